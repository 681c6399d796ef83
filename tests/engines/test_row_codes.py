"""Releases whose rows are put in order by their codes: the same as those of joins, in every column and type."""

from contextlib import closing

import numpy as np
import polars as pl
import pytest

from sfumato.engines.duckdb import engine, in_memory
from sfumato.pipelines.release import anonymize

ROWS = 400
QUASI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
INSENSITIVE = {"role": "insensitive"}
METHODS = [{"name": "optimal", "suppression": 0.2}, {"name": "mondrian"}]


def plan(method: dict, **output: object) -> dict:
    columns = {
        "name": {"role": "identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 3}},
        "age": QUASI | {"type": "integer"},
        "illness": {"role": "sensitive"},
        "costs": INSENSITIVE,
        "visits": INSENSITIVE,
        "measured": INSENSITIVE,
    }
    promises: list[dict] = [{"model": "k-anonymity", "k": 4}]
    promises.append({"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"})
    return {
        "version": 1,
        "seed": 1,
        "columns": columns,
        "privacy": promises,
        "method": method,
        "output": {"format": "parquet"} | output,
    }


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    random = np.random.default_rng(3)
    zips, ills = random.integers(0, 40, ROWS), random.integers(0, 9, ROWS)
    frame = pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(ROWS)],
            "zip": [None if row % 31 == 0 else f"{value:03}" for row, value in enumerate(zips)],
            "age": random.integers(20, 24, ROWS).astype(np.int16),
            "illness": [None if row % 17 == 0 else f"it's {value}" for row, value in enumerate(ills)],
            "costs": random.integers(0, 99, ROWS) / 7,
            "visits": [None if row % 5 == 0 else row for row in range(ROWS)],
            "measured": [None if row % 3 == 0 else row / 3 for row in range(ROWS)],
        }
    )  # fmt: skip
    path = tmp_path_factory.mktemp("source") / "rows.parquet"
    frame.write_parquet(path)
    return path


@pytest.fixture
def written(monkeypatch):
    """How often rows were published by codes."""
    calls = []
    write = engine.DuckDBEngine._write_codes
    monkeypatch.setattr(engine.DuckDBEngine, "_write_codes", lambda *args: (calls.append(1), write(*args))[1])
    return calls


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method["name"])
@pytest.mark.parametrize(
    "output", [{}, {"suppressed": "star"}, {"order": "keep"}, {"format": "csv"}, {"class_column": "no"}], ids=str
)
def test_codes_of_rows_publish_what_joins_publish(source, written, method, output, monkeypatch) -> None:
    with closing(anonymize(source, plan(method, **output))) as release:
        sizes = release.report.classes
        read = pl.read_parquet if release.data.suffix == ".parquet" else pl.read_csv
        first = read(release.data)
    streams = method["name"] == "optimal" and output == {"order": "keep"}
    veils = method["name"] == "optimal" and output == {"suppressed": "star"}
    assert len(written) == (0 if streams or veils else 1)
    monkeypatch.setattr(in_memory, "MOST_ROWS", 0)
    with closing(anonymize(source, plan(method, **output))) as release:
        second = read(release.data)
        assert first.schema == second.schema
        assert first.rows() == second.rows()
        assert sizes == release.report.classes
    assert len(written) == (0 if streams or veils else 1)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Int8, pl.Float32, pl.Date, pl.Boolean])
def test_columns_that_are_kept_stand_beside_their_rows(source, tmp_path, kind) -> None:
    values = pl.Series("note", [None if row % 7 == 0 else row % 100 for row in range(ROWS)])
    note = values.cast(pl.String).cast(kind) if kind == pl.Categorical else values.cast(kind)
    frame = pl.read_parquet(source).with_columns(note, place=pl.Series(range(ROWS)))
    frame.write_parquet(tmp_path / "rows.parquet")
    wanted = plan(METHODS[0])
    wanted["columns"] |= {"note": INSENSITIVE, "place": INSENSITIVE}
    with closing(anonymize(tmp_path / "rows.parquet", wanted)) as release:
        rows = pl.read_parquet(release.data)
    kept = ["illness", "costs", "visits", "measured", "note"]
    raw = frame.with_columns(pl.col("note").cast(rows.schema["note"]))
    assert rows.height > ROWS // 2
    assert rows.select(kept).rows() == raw[rows["place"].to_list()].select(kept).rows()


def test_a_column_holds_no_text_of_rows_that_are_not_published(source, written) -> None:
    with closing(anonymize(source, plan(METHODS[0]))) as release:
        rows = pl.read_parquet(release.data)
        whole = release.data.read_bytes()
    gone = {*pl.read_parquet(source)["illness"].drop_nulls()} - {*rows["illness"].drop_nulls()}
    assert written
    assert not any(text.encode() in whole for text in gone)
