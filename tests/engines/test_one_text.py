"""Values have one text, the same on every engine, and what has none is refused."""

import datetime as dt
import json
import sqlite3
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.canonical_text import short_text
from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.errors import DataError
from sfumato.pipelines.release import anonymize

NAN = float("nan")
VALUES = {
    "not a number": (pa.array([1.5, NAN, None, -0.0]), ["1.5", None, None, "0.0"]),
    "not a number without gaps": (pa.array([1.5, NAN, -0.0]), ["1.5", None, "0.0"]),
    "single precision": (
        pa.array([0.1, 1e10, 16777217.0, 3.4028234e38, 512313.625, NAN, None], pa.float32()),
        ["0.1", "10000000000.0", "16777216.0", "3.4028235e+38", "512313.62", None, None],
    ),
    "single precision without gaps": (pa.array([0.1, 0.2], pa.float32()), ["0.1", "0.2"]),
    "double precision": (pa.array([0.1, 1e16, 5e-324]), ["0.1", "1e+16", "5e-324"]),
    "decimals": (pa.array([Decimal("1.50"), Decimal("0.00")]), ["1.50", "0.00"]),
    "moments": (
        pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30, 15, 500)]),
        ["2020-01-01 00:00:00", "2020-01-01 12:30:15.0005"],
    ),
    "moments with zone": (
        pa.array([dt.datetime(2020, 7, 1, 12, 0, 0, 120_000)], pa.timestamp("us", "Europe/Berlin")),
        ["2020-07-01 12:00:00.12+00"],
    ),
    "days": (pa.array([dt.date(2020, 1, 1), dt.date(20, 1, 1)]), ["2020-01-01", "0020-01-01"]),
    "hours": (pa.array([dt.time(1, 2, 3), dt.time(1, 2, 3, 500)]), ["01:02:03", "01:02:03.0005"]),
    "truth": (pa.array([True, None]), ["true", None]),
    "large numbers": (pa.array([2**63 + 1], pa.uint64()), ["9223372036854775809"]),
    "categories": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    "nothing": (pa.nulls(2), [None, None]),
}
TEXTLESS = {
    "bytes": pa.array([b"ab"]),
    "lists": pa.array([[1, 2]]),
    "records": pa.array([{"a": 1}]),
}


def engines(table: pa.Table, folder: Path) -> list:
    pq.write_table(table, folder / "rows.parquet")
    frames = [table, pl.from_arrow(table), table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)]
    return [folder / "rows.parquet", *frames]


def opened(source):
    return DuckDBEngine(source) if isinstance(source, Path) else FrameEngine(source)


@pytest.mark.parametrize("name", VALUES)
def test_texts_are_the_same_everywhere(tmp_path, name) -> None:
    array, texts = VALUES[name]
    for source in engines(pa.table({"x": array}), tmp_path):
        engine = opened(source)
        assert set(engine.count(["x"], MissingRules()).values[0]) == set(texts), type(source)
        engine.close()


@pytest.fixture(scope="module")
def database():
    """Who reads what was published."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'").fetchall()
        yield connection


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", VALUES)
def test_and_so_are_the_files_of_a_release(tmp_path, database, name, form) -> None:
    array, texts = VALUES[name]
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "columns": {"x": column, "raw": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"format": form, "order": "keep"},
    }
    table = pa.table({"x": array, "raw": array})
    for place, source in enumerate(engines(table, tmp_path)):
        release = anonymize(source, plan)
        saved = release.save(tmp_path / f"out{place}") / f"data.{form}"
        release.close()
        reader = f"read_csv('{saved}', all_varchar=true, header=true)" if form == "csv" else f"read_parquet('{saved}')"
        rows = database.execute(f"SELECT x::VARCHAR, raw::VARCHAR FROM {reader}").fetchall()
        assert rows == [(text, text) for text in texts], type(source)


@pytest.mark.parametrize("name", TEXTLESS)
def test_what_has_no_text_is_refused(tmp_path, name) -> None:
    for source in engines(pa.table({"fine": ["x"], "photo": TEXTLESS[name]}), tmp_path):
        engine = opened(source)
        assert engine.textless(engine.columns) == ("photo",), type(source)
        with pytest.raises(DataError, match='"photo"') as caught:
            engine.count(["fine", "photo"], MissingRules())
        engine.close()
        assert caught.value.code == "data.no-text"


def test_durations_have_none_either(tmp_path) -> None:
    table = pa.table({"stay": pa.array([dt.timedelta(seconds=5)])})
    for frame in (table, pl.from_arrow(table), table.to_pandas()):
        with pytest.raises(DataError, match='"stay"'):
            FrameEngine(frame)
    with duckdb.connect(str(tmp_path / "base.duckdb")) as base:
        base.execute("CREATE TABLE rows AS SELECT INTERVAL 5 SECONDS AS stay").fetchall()
    with pytest.raises(DataError, match='"stay"'):
        DuckDBEngine(tmp_path / "base.duckdb")


def test_objects_without_text_are_refused() -> None:
    frame = pd.DataFrame({"a": ["x"], "photo": pd.Series([{"raw": b"x"}], dtype=object)})
    plan = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "photo": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"order": "keep"},
    }
    with pytest.raises(DataError, match='"photo"'):
        anonymize(frame, plan)


def test_the_text_does_not_depend_on_where_the_machine_stands(tmp_path, monkeypatch) -> None:
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        array, texts = VALUES["moments with zone"]
        for source in engines(pa.table({"x": array}), tmp_path):
            engine = opened(source)
            assert list(engine.count(["x"], MissingRules()).values[0]) == texts
            engine.close()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_texts_of_single_precision_are_the_shortest(tmp_path) -> None:
    import numpy as np

    random = np.random.default_rng(7)
    whole = random.integers(0, 2**24, 4_000) / 8  # many of these lie halfway between two short texts
    numbers = np.concatenate([random.random(4_000) * 1000, whole, random.random(1_000) * 1e20]).astype(np.float32)
    pq.write_table(pa.table({"x": numbers}), tmp_path / "rows.parquet")
    engine = DuckDBEngine(tmp_path / "rows.parquet")
    texts = [next(iter(row.values())) for row in engine.first_rows(len(numbers))]
    engine.close()
    assert texts == [short_text(float(number)) for number in numbers]
    assert [np.float32(text) for text in texts] == numbers.tolist()
    assert max(len(text) for text in texts[:4_000]) <= 11


def test_texts_of_json_stay_texts(tmp_path) -> None:
    records = [
        {"mixed": 1, "day": "2020-01-02", "hour": "12:00:00.000", "number": 1},
        {"mixed": "1", "day": "2020-01-03", "hour": "12:00:00", "number": 2.5},
        {"mixed": True, "day": None, "hour": "12:00", "number": None},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    engine = DuckDBEngine(tmp_path / "rows.jsonl")
    texts = {name: set(engine.count([name], MissingRules()).values[0]) for name in engine.columns}
    assert texts == {
        "mixed": {"1", "true"},
        "day": {"2020-01-02", "2020-01-03", None},
        "hour": {"12:00:00.000", "12:00:00", "12:00"},
        "number": {"1.0", "2.5", None},
    }
    engine.close()


def test_untyped_columns_of_sqlite(tmp_path) -> None:
    with sqlite3.connect(tmp_path / "base.sqlite") as base:
        base.execute("CREATE TABLE rows (mixed, real REAL, whole INTEGER, photo BLOB)")
        base.executemany("INSERT INTO rows VALUES (?, ?, ?, NULL)", [(1, 2.5, 7), ("x", 2, 8), (2.5, None, None)])
    base.close()
    engine = DuckDBEngine(tmp_path / "base.sqlite")
    texts = {name: set(engine.count([name], MissingRules()).values[0]) for name in engine.columns}
    assert texts == {
        "mixed": {"1", "x", "2.5"},
        "real": {"2.5", "2.0", None},
        "whole": {"7", "8", None},
        "photo": {None},
    }
    engine.close()
    with sqlite3.connect(tmp_path / "base.sqlite") as base:
        base.execute("UPDATE rows SET photo = x'00'")
    base.close()
    engine = DuckDBEngine(tmp_path / "base.sqlite")
    assert engine.columns == ("mixed", "real", "whole", "photo")
    with pytest.raises(DataError, match='"photo"'):
        engine.count(["photo"], MissingRules())
    engine.close()


def test_texts_of_dropped_rows_are_not_counted(tmp_path) -> None:
    """Else a hierarchy would be made for values that are in no row."""
    table = pa.table({"zip": ["12", "12", "98765"], "sex": ["m", "m", None]})
    for source in engines(table, tmp_path):
        engine = opened(source)
        counted = engine.count(["zip", "sex"], MissingRules(required=("sex",)))
        assert (counted.values, counted.rows) == ((("12",), ("m",)), 3)
        engine.close()
    plan = {
        "version": 1,
        "data": {"on_missing": "drop"},
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}, "min_level": 1},
            "sex": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    assert anonymize(pl.from_arrow(table), plan).data["zip"].to_list() == ["1*", "1*"]
