"""Shared counts: what is added up from one count is what the engine counts itself, and rows are read no more often."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages import counting as shared_counts
from sfumato.pipelines.release_stages.counting import SharedCounts

PLAN = {
    "version": 1,
    "columns": {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal", "suppression": 0.5},
    "seed": 1,
}


@pytest.fixture
def rows() -> pl.DataFrame:
    random = np.random.default_rng(3)
    draw = {name: random.integers(0, 4, 60) for name in ("sex", "age", "ill", "note")}
    texts = {name: [None if value == 3 else f"{name}'{value}" for value in values] for name, values in draw.items()}
    return pl.DataFrame(texts)


def as_texts(counted: ValueCounts) -> dict[tuple[str | None, ...], int]:
    found = [
        tuple(values[code] for values, code in zip(counted.values, codes, strict=True))
        for codes in counted.codes.tolist()
    ]
    assert len(set(found)) == len(found)
    return dict(zip(found, counted.counts.tolist(), strict=True))


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("reading", [MissingRules(), MissingRules(("sex'0",), ("sex", "note"))])
def test_the_same_as_the_engine(rows: pl.DataFrame, form: str, reading: MissingRules, tmp_path: Path) -> None:
    data: pl.DataFrame | Path = rows
    if form != "frame":
        data = tmp_path / f"rows.{form}"
        rows.write_csv(data) if form == "csv" else rows.write_parquet(data)
    plan = read_plan(PLAN)
    engine = open_engine(data, plan)
    shared = SharedCounts(plan, engine)
    assert shared.rows is not None
    for width in range(1, 5):
        for columns in combinations(rows.columns, width):
            own, added = engine.count(columns, reading), shared.count(engine, columns, reading)
            assert (as_texts(added), added.rows) == (as_texts(own), own.rows)
    engine.close()


def test_few_rows_are_counted_once_before_and_once_after(
    rows: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.engines.duckdb.engine import DuckDBEngine

    rows.write_csv(tmp_path / "rows.csv")
    counts: list[tuple[str, ...]] = []
    own = DuckDBEngine.count

    def count(engine: DuckDBEngine, columns: tuple[str, ...], reading: MissingRules) -> ValueCounts:
        counts.append(tuple(columns))
        return own(engine, columns, reading)

    monkeypatch.setattr(DuckDBEngine, "count", count)
    anonymize(tmp_path / "rows.csv", PLAN).close()
    assert counts == [("sex", "age", "ill", "note")] * 2
    few = len(counts)
    monkeypatch.setattr(shared_counts, "MOST_AT_ONCE", 10)
    anonymize(tmp_path / "rows.csv", PLAN).close()
    assert len(counts) > 2 * few  # many rows are counted by the columns that are asked for


def test_unknown_numbers_of_rows_are_not_few(rows: pl.DataFrame) -> None:
    plan = read_plan(PLAN)
    engine: Engine = open_engine(rows, plan)
    shared = SharedCounts(plan, engine)
    shared.rows = None
    assert shared.count(engine, ("sex",), MissingRules()).columns == ("sex",)
    assert [names for _, _, names in shared._kept] == [("sex",)]
