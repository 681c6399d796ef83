"""The table of file formats: every entry is complete, and nothing else compares the ending of a file of rows."""

import ast
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from sfumato.formats import FORMATS, RELEASED, UPLOADS, Format, format_named
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import OutputPlan

SOURCES = Path(__file__).parents[1] / "src" / "sfumato"
SUFFIXES = {suffix for form in FORMATS.values() for suffix in form.suffixes}
# The table; the kinds of survey files, which one reader distinguishes; names of files that are plans or downloads.
OWN = {"formats.py", "engines/survey_files.py"}
PLANS = {".json"}


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_every_format_is_complete(form: Format) -> None:
    assert form.suffix.startswith(".") and set(form.uploads) | set(form.lines) <= set(form.suffixes)
    assert all(format_named(f"rows{suffix}") is form for suffix in form.suffixes)
    assert "duckdb" in form.reads
    assert all(callable(form.reader(engine)) for engine in form.reads if engine != "spark")
    assert all(callable(form.writer(engine)) for engine in form.writes if engine != "spark")
    assert form.reader("abacus") is None


def test_plans_name_the_formats_of_the_table() -> None:
    read, written = get_type_hints(DataPlan)["format"], get_type_hints(OutputPlan)["format"]
    assert set(get_args(get_args(read)[0])) == set(FORMATS)
    assert set(get_args(written)) == {form.name for form in RELEASED}


def test_databases_are_not_uploaded() -> None:
    assert not set(UPLOADS) & {suffix for form in FORMATS.values() if form.is_database for suffix in form.suffixes}


def test_nothing_else_compares_endings() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        name = path.relative_to(SOURCES).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            compared = node.comparators if isinstance(node, ast.Compare) else []
            texts = {leaf.value for part in compared for leaf in ast.walk(part) if isinstance(leaf, ast.Constant)}
            if texts & (SUFFIXES - PLANS) and name not in OWN:
                found.add(f"{name}:{node.lineno}")
    assert not found
