"""Counts by some columns are those that an engine would give."""

import numpy as np
import polars as pl
import pytest

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.engine import MissingRules
from sfumato.microdata.counts.grouping import counted_by


def told(counted):
    rows = zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)
    return {tuple(texts[code] for texts, code in zip(counted.values, codes, strict=True)): n for codes, n in rows}


@pytest.mark.parametrize("columns", [("a",), ("c", "a"), ("b", "d"), ("d", "c", "b", "a")])
def test_parts_are_as_counted_by_an_engine(columns):
    random = np.random.default_rng(3)
    frame = pl.DataFrame({name: random.integers(0, size, 90).astype(str) for name, size in zip("abcd", (2, 5, 40, 3))})
    engine = FrameEngine(frame.with_columns(b=pl.when(pl.col("b") == "1").then(None).otherwise("b")))
    whole, part = engine.count(("a", "b", "c", "d"), MissingRules()), engine.count(columns, MissingRules())
    mine = counted_by(whole, columns)
    assert told(mine) == told(part)
    assert (mine.columns, mine.rows, sorted(mine.counts)) == (part.columns, part.rows, sorted(part.counts))


def test_no_rows_are_no_parts():
    empty = FrameEngine(pl.DataFrame({"a": pl.Series([], dtype=str), "b": pl.Series([], dtype=str)}))
    assert len(counted_by(empty.count(("a", "b"), MissingRules()), ("b",)).counts) == 0
