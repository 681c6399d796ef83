"""Every engine gives the same counts and the same release, and both agree with answers written by hand."""

import datetime as dt
import json
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.errors import DataError, PlanError
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.release import anonymize

NAMES = ("Geschlecht (m/w)", 'say "hi"', "Größe", "it's")
ROWS = [
    ("m", "a,b", "007", "x"),
    ("m", "a,b", "007", "y"),
    ("w", 'q"q', "7", None),
    ("w", None, "7", "ä;ö"),
    (None, "", "007", "zwei\nZeilen"),
]


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=list(NAMES), index=[9, 7, 7, 1, 0])


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=list(NAMES), orient="row")


def arrow_table() -> pa.Table:
    return pa.table({name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)})


def parquet_file(folder: Path) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(arrow_table(), path)
    return path


@pytest.fixture(params=["pandas", "polars", "arrow", "parquet"])
def source(request, tmp_path):
    return {
        "pandas": pandas_frame,
        "polars": polars_frame,
        "arrow": arrow_table,
        "parquet": lambda: parquet_file(tmp_path),
    }[request.param]()


def engine_of(source):
    return DuckDBEngine(source) if isinstance(source, Path) else FrameEngine(source)


def tally(counted) -> Counter:
    found: Counter = Counter()
    for codes, count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True):
        found[tuple(values[code] for values, code in zip(counted.values, codes, strict=True))] += count
    return found


def test_counts_are_as_written_by_hand(source) -> None:
    engine = engine_of(source)
    assert engine.columns == NAMES
    assert tally(engine.count([NAMES[0], NAMES[2]], MissingRules())) == {
        ("m", "007"): 2,
        ("w", "7"): 2,
        (None, "007"): 1,
    }
    assert tally(engine.count([NAMES[1]], MissingRules())) == {("a,b",): 2, ('q"q',): 1, (None,): 1, ("",): 1}
    required = MissingRules(missing=("a,b",), required=(NAMES[1],))
    assert tally(engine.count([NAMES[0]], required)) == {("w",): 1, (None,): 1}
    assert engine.count([NAMES[0]], required).rows == 5
    assert engine.locate(NAMES[2], ["7"], 10) == (3, 4)
    assert engine.locate(NAMES[2], ["7"], 1) == (3,)
    engine.close()


PLAN = {
    "version": 1,
    "columns": {
        NAMES[0]: {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        NAMES[1]: {"role": "identifier"},
        NAMES[2]: {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
        NAMES[3]: {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}


def published_rows(release) -> list[tuple]:
    data = release.data
    if isinstance(data, Path):
        table = f"read_csv('{data}', header=true, all_varchar=true, allow_quoted_nulls=false)"
        return duckdb.execute(f"SELECT * FROM {table}").fetchall()
    if isinstance(data, pd.DataFrame):
        return [tuple(None if pd.isna(v) else v for v in row) for row in data.itertuples(index=False, name=None)]
    return (
        list(zip(*(data[name].to_pylist() for name in data.column_names)))
        if isinstance(data, pa.Table)
        else data.rows()
    )


def test_the_release_is_as_written_by_hand(source) -> None:
    """Rows 1-2 and 3-4 are alike; the row with the missing sex is alone and is starred, its sensitive value too."""
    before = pandas_frame() if isinstance(source, pd.DataFrame) else None
    plan = PLAN | {
        "method": {"name": "optimal", "loss": "loss-metric", "suppression": 0.2},
        "output": {"suppressed": "star", "class_column": "Klasse", "order": "keep"},
    }
    release = anonymize(source, plan)
    assert type(release.data) is type(source) or isinstance(release.data, Path)
    rows = [tuple(str(v) if isinstance(v, int) else v for v in row) for row in published_rows(release)]
    assert rows == [
        ("m", "*", "007", "x", "1"),
        ("m", "*", "007", "y", "1"),
        ("w", "*", "7", None, "2"),
        ("w", "*", "7", "ä;ö", "2"),
        ("*", "*", "*", "*", "0"),
    ]
    assert release.report.suppressed_rows == 1
    if before is not None:
        pd.testing.assert_frame_equal(source, before)


@pytest.mark.parametrize("order", ["keep", "shuffle"])
@pytest.mark.parametrize("on_missing", ["category", "drop", "any"])
def test_frames_and_files_give_the_same_rows_in_the_same_order(tmp_path, order, on_missing) -> None:
    plan = PLAN | {
        "data": {"on_missing": on_missing},
        "method": {"name": "optimal", "suppression": 1.0},
        "output": {"order": order},
        "seed": 1,
    }
    releases = [
        anonymize(kind, plan) for kind in (pandas_frame(), polars_frame(), arrow_table(), parquet_file(tmp_path))
    ]
    rows = [published_rows(release) for release in releases]
    assert rows[0]
    assert all(other == rows[0] for other in rows[1:])
    assert len({release.report.loss.value for release in releases}) == 1


def test_texts_of_typed_values_are_the_same_everywhere(tmp_path) -> None:
    values = {
        "flag": [True, False, None],
        "whole": [7, -3, None],
        "share": [0.1, 1e20, None],
        "day": [dt.date(2024, 2, 29), dt.date(1899, 12, 31), None],
        "moment": [dt.datetime(2024, 2, 29, 13, 5, 7), dt.datetime(1970, 1, 1), None],
    }
    table = pa.table(values)
    path = tmp_path / "typed.parquet"
    pq.write_table(table, path)
    frames = [pl.DataFrame(values), table, pd.DataFrame(values).convert_dtypes()]
    expected = {
        "flag": {"true", "false", None},
        "whole": {"7", "-3", None},
        "share": {"0.1", "1e+20", None},
        "day": {"2024-02-29", "1899-12-31", None},
        "moment": {"2024-02-29 13:05:07", "1970-01-01 00:00:00", None},
    }
    for engine in [DuckDBEngine(path), *map(FrameEngine, frames)]:
        for name, texts in expected.items():
            assert set(engine.count([name], MissingRules()).values[0]) == texts, (engine.name, name)
        engine.close()


@pytest.mark.parametrize("rows", [0, 1])
def test_empty_tables_and_single_rows(rows) -> None:
    frame = pl.DataFrame({"a": ["x"] * rows}, schema={"a": pl.String})
    plan = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"order": "keep"},
    }
    if rows:
        assert anonymize(frame, plan).data.rows() == [("x",)]
    else:
        with pytest.raises(DataError, match="no rows"):
            anonymize(frame, plan)


def write_sources(folder: Path) -> dict[str, tuple[Path, DataPlan]]:
    records = [{"a": "007", "b": "ä"}, {"a": "8", "b": None}]
    text = "a;b\n007;ä\n8;\n"
    (folder / "utf8.csv").write_text(text, encoding="utf-8")
    (folder / "latin.csv").write_text(text, encoding="latin-1")
    (folder / "windows.csv").write_text(text, encoding="cp1252")
    (folder / "bare.csv").write_text("007;ä\n8;\n", encoding="utf-8")
    (folder / "spaced.csv").write_text("a , b\n007 , ä\n 8,\n", encoding="utf-8")
    (folder / "quoted.csv").write_text("a|b\n'007'|'ä'\n'8'|\n", encoding="utf-8")
    (folder / "lines.jsonl").write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in records), encoding="utf-8")
    with duckdb.connect(str(folder / "base.duckdb")) as base:
        base.execute("CREATE TABLE people (a VARCHAR, b VARCHAR)").fetchall()
        base.execute("INSERT INTO people VALUES ('007', 'ä'), ('8', NULL)").fetchall()
    import sqlite3

    with sqlite3.connect(folder / "base.sqlite") as lite:
        lite.execute("CREATE TABLE people (a TEXT, b TEXT)")
        lite.executemany("INSERT INTO people VALUES (?, ?)", [("007", "ä"), ("8", None)])
    lite.close()
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("a", "b"), ("007", "ä"), (8, None)):
        book.active.append(row)
    book.save(folder / "book.xlsx")
    return {
        "utf-8": (folder / "utf8.csv", DataPlan()),
        "latin-1": (folder / "latin.csv", DataPlan(encoding="latin-1")),
        "cp1252": (folder / "windows.csv", DataPlan(encoding="cp1252")),
        "no header": (folder / "bare.csv", DataPlan(header=False)),
        "spaces": (folder / "spaced.csv", DataPlan(strip=True)),
        "other quotes": (folder / "quoted.csv", DataPlan(quote="'")),
        "JSON lines": (folder / "lines.jsonl", DataPlan()),
        "DuckDB": (folder / "base.duckdb", DataPlan()),
        "SQLite": (folder / "base.sqlite", DataPlan(table="people")),
        "Excel": (folder / "book.xlsx", DataPlan()),
    }


@pytest.mark.parametrize(
    "name",
    [
        "utf-8",
        "latin-1",
        "cp1252",
        "no header",
        "spaces",
        "other quotes",
        "JSON lines",
        "DuckDB",
        "SQLite",
        "Excel",
    ],
)
def test_every_source_reads_the_same(tmp_path, name) -> None:
    path, data = write_sources(tmp_path)[name]
    engine = DuckDBEngine(path, data, ("a", "b"))
    assert engine.columns == ("a", "b")
    assert tally(engine.count(["a", "b"], MissingRules())) == {("007", "ä"): 1, ("8", None): 1}
    plan = {
        "version": 1,
        "data": {
            key: getattr(data, key)
            for key in ("encoding", "header", "strip", "quote", "table")
            if getattr(data, key) is not None
        },
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(path, plan)
    assert published_rows(release) == [("*", "ä"), ("*", None)]
    engine.close()


def test_a_table_must_be_named_when_there_are_several(tmp_path) -> None:
    with duckdb.connect(str(tmp_path / "base.duckdb")) as base:
        base.execute("CREATE TABLE one (a VARCHAR)").fetchall()
        base.execute("CREATE TABLE two (a VARCHAR)").fetchall()
    with pytest.raises(PlanError, match="2 tables"):
        DuckDBEngine(tmp_path / "base.duckdb")
    with pytest.raises(PlanError, match='Did you mean "one"'):
        DuckDBEngine(tmp_path / "base.duckdb", DataPlan(table="onne"))


def test_thirty_columns_of_a_thousand_values_do_not_overflow() -> None:
    import numpy as np

    random = np.random.default_rng(5)
    rows = random.integers(0, 1000, (400, 30))
    doubled = np.vstack([rows, rows])
    frame = pl.DataFrame({f"c{place}": [f"{v:03d}" for v in doubled[:, place]] for place in range(30)})
    plan = {
        "version": 1,
        "columns": {
            f"c{place}": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 1 if place < 3 else 0}
            for place in range(30)
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(frame, plan)
    assert set(release.report.levels.values()) == {0}
    assert (release.report.classes.count, release.report.classes.smallest) == (400, 2)
    assert release.data.equals(frame)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet"])
def test_minus_zero_is_zero_and_published_as_such(tmp_path, kind) -> None:
    """Equal numbers are one class; a reader who sees -0.0 beside 0.0 would see two."""
    table = pa.table({"f": [0.0] * 9 + [-0.0] + [1.0] * 6})
    path = tmp_path / "zeros.parquet"
    pq.write_table(table, path)
    source = {"pandas": table.to_pandas(), "polars": pl.from_arrow(table), "arrow": table, "parquet": path}[kind]
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "columns": {"f": column},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"order": "keep"},
    }
    release = anonymize(source, plan | {"output": {"format": "parquet", "order": "keep"}})
    saved = pq.read_table(release.save(tmp_path / "out") / "data.parquet")
    release.close()
    assert Counter(map(str, saved["f"].to_pylist())) == {"0.0": 10, "1.0": 6}


@pytest.mark.parametrize("suppressed", ["drop", "star"])
@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_a_file_tells_nothing_of_labels_that_nobody_has(tmp_path, suppressed, order) -> None:
    """The label of a withheld row stands neither in the file's dictionary nor in its statistics."""
    table = pa.table({"zip": ["10", "11", "12", "20", "21", "22", "99"], "x": ["a"] * 7})
    pq.write_table(table, tmp_path / "rows.parquet")
    column = {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}, "max_level": 1}
    plan = {
        "version": 1,
        "columns": {"zip": column, "x": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0.2},
        "output": {"format": "parquet", "suppressed": suppressed, "order": order},
    }
    release = anonymize(tmp_path / "rows.parquet", plan)
    content = Path(release.data).read_bytes()
    counts = Counter(pq.read_table(release.data)["zip"].to_pylist())
    release.close()
    assert counts == {"1*": 3, "2*": 3} | ({"*": 1} if suppressed == "star" else {})
    assert b"9*" not in content


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_what_is_stripped_is_published_stripped(tmp_path, order) -> None:
    """A column that stays as it is was counted without its white space: so it must be written."""
    (tmp_path / "rows.csv").write_text("a,b\n 1, x\n1\t,\ty \n", encoding="utf-8")
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"strip": True},
        "columns": {"a": column, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": order},
    }
    release = anonymize(tmp_path / "rows.csv", plan)
    lines = Path(release.data).read_text(encoding="utf-8").splitlines()
    release.close()
    assert Counter(lines) == {"a,b": 1, "1,x": 1, "1,y": 1}


@pytest.mark.parametrize("on_missing", ["category", "drop"])
def test_what_holds_nothing_but_white_space_is_missing(tmp_path, on_missing) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n 1,y\n1, \n1,\t\n", encoding="utf-8")
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"strip": True, "on_missing": on_missing},
        "columns": {"a": column, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(tmp_path / "rows.csv", plan)
    lines = Path(release.data).read_text(encoding="utf-8").splitlines()[1:]
    release.close()
    assert lines == ["1,x", "1,y", *(["1,", "1,"] if on_missing == "category" else [])]


@pytest.mark.parametrize("class_column", [None, "class"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_values_of_dropped_rows_alone_do_not_stop_a_release(tmp_path, suffix, class_column) -> None:
    """DuckDB may look values up before it drops rows: one that stands in dropped rows alone is not known then."""
    rows = [(str(age), "x") for age in range(20, 60) for _ in range(200)] + [("99", "x")]
    rows += [(str(age), "?") for age in range(100, 180) for _ in range(50)]
    frame = pl.DataFrame(rows * 2, schema=["age", "x"], orient="row").sample(fraction=1, shuffle=True, seed=1)
    path = tmp_path / f"rows.{suffix}"
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0}
    plan = {
        "version": 1,
        "data": {"missing": ["?"], "on_missing": "drop"},
        "columns": {"age": column, "x": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.02},
        "output": {"order": "keep"} | ({"class_column": class_column} if class_column else {}),
    }
    release = anonymize(path, plan)
    release.close()
    assert (release.report.suppressed_rows, release.report.dropped_rows) == (2, 8000)
