"""Cells that a spreadsheet would compute are quoted where asked, and nothing else changes."""

import csv
from contextlib import closing

import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.postprocessing import quote_formulas, unquoted
from sfumato.pipelines.attack_target import target_of

CELLS = ["=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "＝1", "'=x", "''@y"]
QUOTED = set(CELLS)
CELLS += ["-5", "+3.5e-4", "1=1", "a", "'a", ""]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=";", lineterminator="\n")
        writer.writerows([["=name", "note"], *([str(place), cell] for place, cell in enumerate(CELLS))])
    return path


def cells(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return [row[1] for row in csv.reader(stream, delimiter=";")][1:]


def test_formulas_are_quoted_and_can_be_had_back(file):
    assert quote_formulas(file, ("=name", "note"), ";")
    assert cells(file) == [f"'{cell}" if cell in QUOTED else cell for cell in CELLS]
    with closing(unquoted(DuckDBEngine.of_published(file, ("'=name", "note"), ";"))) as engine:
        assert [row["note"] or "" for row in engine.first_rows(99)] == CELLS
    assert not list(file.parent.glob("quoted-*"))


def test_a_file_without_formulas_stays_to_the_byte(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b'a,b\n-5,""\n"x",\n')
    assert not quote_formulas(path, ("a", "b"), ",")
    assert path.read_bytes() == b'a,b\n-5,""\n"x",\n'


ROWS = "age;note\n-30;=1+1\n-31;plain\n-32;@x\n-33;=1+1\n"
PLAN = {
    "version": 1,
    "data": {"separator": ";"},
    "columns": {
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            "hierarchy": {"type": "intervals", "start": -40, "end": 0, "widths": [10]},
        },
        "note": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal"},
}


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_a_release_whose_formulas_are_quoted_is_verified(tmp_path, kind):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    data = path
    if kind == "frame":
        polars = pytest.importorskip("polars")
        data = polars.read_csv(path, separator=";")
    for formulas in ("keep", "quote"):
        with closing(sf.anonymize(data, PLAN | {"output": {"formulas": formulas}})) as release:
            release.save(tmp_path / formulas)
    kept, quoted = ((tmp_path / name / "data.csv").read_text() for name in ("keep", "quote"))
    assert kept.count(";=1+1") == 2
    assert ";=1+1" not in quoted
    assert quoted.count(";'=1+1") == 2
    assert quoted.count(";'@x") == 1
    for name in ("keep", "quote"):
        verdict = sf.verify(tmp_path / name)
        assert (verdict.satisfied, verdict.faults) == (True, ()), (name, verdict)


HEAD = "=cmd|'/c calc'!A1"


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_names_of_columns_are_quoted_and_every_reader_knows_them(tmp_path, kind):
    """Cells were quoted, and a formula in the first line went out as it was."""
    path = tmp_path / "rows.csv"
    path.write_text(ROWS.replace("note", HEAD).replace("=1+1", "x").replace("@x", "y"))
    data = path
    if kind == "frame":
        data = pytest.importorskip("polars").read_csv(path, separator=";")
    plan = PLAN | {"columns": {"age": PLAN["columns"]["age"], HEAD: {"role": "sensitive"}}}
    plan |= {"output": {"formulas": "quote"}, "seed": 1}
    with closing(sf.anonymize(data, plan)) as release:
        release.save(tmp_path / "out")
    with (tmp_path / "out" / "data.csv").open(newline="", encoding="utf-8") as stream:
        assert next(csv.reader(stream, delimiter=";")) == ["age", f"'{HEAD}"]
    verdict = sf.verify(tmp_path / "out")
    assert (verdict.satisfied, verdict.faults) == (True, ())
    assert HEAD in target_of(tmp_path / "out").rows
    assert sf.check(tmp_path / "out", "hipaa-safe-harbor").clauses
