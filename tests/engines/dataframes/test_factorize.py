"""Rows that a frame's library tells apart are those that their texts tell apart."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.canonical_text import as_text
from sfumato.engines.dataframes.count import factorize
from sfumato.engines.dataframes.engine import FrameEngine

COLUMNS = {
    "objects": pd.Series(["b", None, "a", float("nan"), "b", 1.5], dtype=object),
    "mixed": pd.Series([True, 1, 1.0, "1", None, "true"], dtype=object),
    "texts": pd.Series(["b", None, "a", "b", ""], dtype="str"),
    "categories": pd.Series(["b", None, "a", "b"], dtype=pd.CategoricalDtype(["z", "a", "b"])),
    "numbered categories": pd.Series([2, 1, 2], dtype="category"),
    "short": pd.Series([127, -128, 5, 127], dtype="int8"),
    "unsigned": pd.Series([2**64 - 1, 2**63, 2**64 - 1], dtype="uint64"),
    "far apart": pd.Series([-(2**63), 2**63 - 1, 0]),
    "flags": pd.Series([False, True, False]),
    "zeros": pd.Series([0.0, -0.0, float("nan"), 1.0]),
    "polars texts": pl.Series(["b", None, "a", "b", ""]),
    "polars categories": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "polars numbers": pl.Series([7, None, -1, 7], dtype=pl.Int16),
    "polars unsigned": pl.Series([2**64 - 1, None, 2**63], dtype=pl.UInt64),
    "polars days": pl.Series(["2024-02-29", None, "2023-01-01"]).str.to_date(),
    "arrow texts": pa.chunked_array([["b", None], ["a", "b"]]),
    "arrow dictionary": pa.chunked_array([["b", None], ["a", "b"]]).dictionary_encode(),
    "arrow numbers": pa.chunked_array([[3, None], [1, 3]]),
    "no rows": pl.Series([], dtype=pl.String),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_texts_and_places_are_those_of_all_values(name):
    column = COLUMNS[name]
    frame = pa.table({"c": column}) if isinstance(column, pa.ChunkedArray) else type(column)(column)
    frame = frame if isinstance(frame, pa.Table) else frame.rename("c").to_frame()
    texts, codes = FrameEngine(frame).coded("c")
    values = nw.from_native(frame, eager_only=True)["c"].to_list()
    slow_texts, slow_codes = factorize(values, as_text)
    assert texts == slow_texts
    assert np.array_equal(codes, slow_codes)
    assert [texts[code] for code in codes.tolist()] == [as_text(value) for value in values]
