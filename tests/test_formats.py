"""The table of file formats: every entry is complete, and nothing else compares the ending of a file of rows."""

import ast
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pytest
from pyarrow import feather, ipc

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.record_io import read_records, write_records
from sfumato.errors import DataError
from sfumato.formats import FORMATS, RELEASED, UPLOADS, Format, format_named
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.parts import OutputPlan

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


COLUMNS = {
    "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "widths": [10]}},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "ill": {"role": "sensitive"},
}
ROWS = {"age": [30, 31, 38, 39] * 5, "sex": ["f", "m", "m", "f"] * 5, "ill": ["a", "b", "c", None] * 5}


def released(source: Any, form: str, **further: Any) -> list[dict[str, Any]]:
    """Return the published rows of a release in a format."""
    output = {"format": form, "order": "keep", **further.pop("output", {})}
    plan = {
        "version": 1,
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "columns": COLUMNS,
        "output": output,
        **further,
    }
    with TemporaryDirectory() as folder, closing(sf.anonymize(source, plan)) as release:
        release.save(Path(folder) / "out")
        assert sf.verify(Path(folder) / "out").satisfied
        return duckdb_rows(Path(folder) / "out" / FORMATS[form].published)


def duckdb_rows(path: Path) -> list[dict[str, Any]]:
    with closing(DuckDBEngine(path, DataPlan())) as engine:
        return engine.first_rows(99)


@pytest.fixture(scope="module")
def arrow_file(tmp_path_factory) -> Path:
    """Return a Feather file in which the texts of a column are numbered."""
    path = tmp_path_factory.mktemp("arrow") / "rows.feather"
    table = pa.table(ROWS)
    numbered = table.set_column(1, "sex", table["sex"].combine_chunks().dictionary_encode())
    feather.write_feather(numbered, str(path), compression="uncompressed")
    return path


@pytest.mark.parametrize(
    "further",
    [{}, {"method": {"name": "local"}}, {"output": {"intervals": "bounds"}}, {"method": {"name": "mondrian"}}],
    ids=["stream", "join", "bounds", "mondrian"],
)
def test_arrow_files_are_released_as_parquet_files_are(arrow_file, further) -> None:
    sources, forms = (arrow_file, pa.table(ROWS)), ("arrow", "parquet")
    rows = [released(source, form, **further) for source in sources for form in forms]
    assert rows[0] and all(one == rows[0] for one in rows)


def test_numbers_that_are_published_unchanged_have_bounds(arrow_file) -> None:
    rows = released(arrow_file, "parquet", output={"intervals": "bounds"})
    assert {(row["age"], row["age_min"], row["age_max"]) for row in rows} == {(n, n, n) for n in map(str, ROWS["age"])}


def test_streams_of_arrow_are_files_too_and_others_are_damaged(tmp_path) -> None:
    path = tmp_path / "rows.arrow"
    with ipc.new_stream(str(path), pa.table(ROWS).schema) as stream:
        stream.write_table(pa.table(ROWS))
    assert len(duckdb_rows(path)) == 20
    path.write_bytes(b"no arrow")
    with pytest.raises(DataError) as refused:
        duckdb_rows(path)
    assert refused.value.code == "data.unreadable"


def test_arrow_files_of_a_folder_have_the_same_columns(tmp_path) -> None:
    for name, table in (("a", pa.table({"n": [1]})), ("b", pa.table({"n": ["1"]}))):
        feather.write_feather(table, str(tmp_path / f"{name}.arrow"))
    with pytest.raises(DataError) as refused:
        duckdb_rows(tmp_path)
    assert refused.value.code == "data.different-columns"


@pytest.mark.parametrize("form", [form for form in FORMATS.values() if {"records"} <= {*form.reads} & {*form.writes}])
def test_records_are_read_as_they_were_written(tmp_path, form) -> None:
    records = [{"name": "Łódź", "n": "1"}, {"name": None, "n": "2"}]
    write_records(records, tmp_path / f"rows{form.suffix}")
    assert read_records(tmp_path / f"rows{form.suffix}") == records
