"""Numbers in frames: told apart as numbers, with the texts that they have everywhere, and at a small price."""

from time import process_time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.canonical_text import as_text
from sfumato.engines.dataframes.count import factorize, strings_of
from sfumato.engines.dataframes.engine import FrameEngine

NUMBERS = [2.5, None, 0.0, -0.0, float("nan"), 1e300, 2.5, float("-inf"), 0.1]
TEXTS = ["2.5", None, "0.0", "0.0", None, "1e+300", "2.5", "-inf", "0.1"]


def test_numbers_have_the_texts_of_values_of_any_kind() -> None:
    distinct, codes = factorize(NUMBERS, as_text)
    assert distinct == ("2.5", None, "0.0", "1e+300", "-inf", "0.1")
    assert [distinct[code] for code in codes] == TEXTS == strings_of(NUMBERS, as_text)
    assert strings_of([1, "a", None, 2.5], as_text) == ["1", "a", None, "2.5"]
    assert factorize([], as_text)[0] == () and strings_of([], as_text) == []


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_frame_hands_over_its_numbers(make) -> None:
    engine = FrameEngine(make({"x": [1.5, None, 2.0], "n": [1, 2, 3], "t": ["a", "b", None]}))
    assert np.array_equal(engine.floats("x"), [1.5, np.nan, 2.0], equal_nan=True)
    assert engine.floats("n") is None and engine.floats("t") is None
    assert engine.texts("x") == ["1.5", None, "2.0"] and engine.texts("n") == ["1", "2", "3"]


def test_fingerprints_tell_numbers_apart_and_kinds_of_frames_not() -> None:
    columns = {"x": [1.5, -0.0, None], "t": ["a", "b", "c"]}
    prints = {FrameEngine(make(columns)).checksum() for make in (pl.DataFrame, pd.DataFrame, pa.table)}
    assert len(prints) == 1
    others = ([1.5, 0.0, float("nan")], [1.5, 0.0, 0.0], [1.5, 0.0, 1e-300])
    marks = [FrameEngine(pl.DataFrame(columns | {"x": other})).checksum() for other in others]
    assert marks[0] in prints and len({*prints, *marks}) == 3


def test_a_fingerprint_costs_less_than_the_texts_of_measurements() -> None:
    numbers = np.random.default_rng(1).normal(size=150_000).tolist()
    engine = FrameEngine(pl.DataFrame({"x": numbers}))
    begin = process_time()
    list(map(as_text, numbers))
    texts = process_time() - begin
    begin = process_time()
    engine.checksum()
    assert process_time() - begin < texts
