"""Texts numbered where they lie: the same numbers as those of a list, however a library has laid them."""

import random
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from sfumato.engines.dataframes import count as arrow_strings
from sfumato.engines.dataframes.count import MOST_TEXTS, numbered_texts, repeated
from sfumato.native.dispatch import way

pytestmark = pytest.mark.skipif(way() != "native", reason="the loops are not built here")
# Short and long ones, of which some begin, go on or end alike; of all lengths around whole words.
TEXTS = ["", "a", "ä", "\0", "b" * 12, "b" * 13, "𝄞" * 3, *("x" * length for length in range(1, 42))]
TEXTS += [f"{'y' * 24}{last}{'z' * 9}" for last in "01"] + [f"{'w' * 30}{last}" for last in "01"]


def _chunked(texts: list[str], kind: Any) -> Any:
    parts = [texts[:100], [], texts[100:103], texts[103:]]
    return pyarrow.chunked_array([pyarrow.array(part, kind) for part in parts])


MAKERS: dict[str, Callable[[list[str]], Any]] = {
    "polars": polars.Series,
    "polars in parts": lambda texts: polars.concat(
        [polars.Series(texts[:50]), polars.Series(texts[50:])], rechunk=False
    ),
    "a slice of polars": lambda texts: polars.Series(["before", *texts, "behind"])[1:-1],
    "rows taken out of polars": lambda texts: polars.Series(sorted({*texts}))[
        [sorted({*texts}).index(text) for text in texts]
    ],
    "pandas": lambda texts: pandas.Series(texts, dtype="str"),
    "a slice of pandas": lambda texts: pandas.Series(["before", *texts, "behind"], dtype="str")[1:-1],
    "arrow": lambda texts: _chunked(texts, pyarrow.string()),
    "large arrow": lambda texts: _chunked(texts, pyarrow.large_string()),
    "views of arrow": lambda texts: _chunked(texts, pyarrow.string_view()),
    "a slice of arrow": lambda texts: pyarrow.chunked_array([pyarrow.array(["before", *texts, "behind"])[1:-1]]),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_numbers_are_those_of_texts_as_they_come(maker: str) -> None:
    texts = random.Random(5).choices(TEXTS, k=700)

    told = numbered_texts(nw.from_native(MAKERS[maker](texts), series_only=True))

    distinct = list(dict.fromkeys(texts))
    assert told is not None
    assert told[1] == distinct
    assert told[0].tolist() == [distinct.index(text) for text in texts]


@pytest.mark.parametrize("maker", ["polars", "pandas", "arrow"])
def test_many_texts_are_left_to_the_library(maker: str) -> None:
    texts = [str(number) for number in range(MOST_TEXTS + 1)]

    assert numbered_texts(nw.from_native(MAKERS[maker](texts), series_only=True)) is None
    assert numbered_texts(nw.from_native(MAKERS[maker](texts[1:]), series_only=True)) is not None


@pytest.mark.parametrize("maker", ["polars", "pandas", "arrow"])
def test_missing_texts_are_left_to_the_library(maker: str) -> None:
    texts = ["a", None, "b"]

    assert numbered_texts(nw.from_native(MAKERS[maker](texts), series_only=True)) is None


@pytest.mark.parametrize("kind", ["pandas", "arrow", "large arrow"])
def test_texts_are_laid_as_the_library_takes_them(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_strings, "MANY_ROWS", 0)
    distinct = sorted({*TEXTS})
    codes = np.random.default_rng(5).integers(0, len(distinct), 900).astype(np.int32)
    each = nw.from_native(MAKERS[kind](distinct), series_only=True).alias("name")

    laid = repeated(each, distinct, codes)

    assert laid is not None
    assert laid.name == "name"
    assert type(laid.to_native()) is type(each.to_native())
    assert laid.dtype == each.dtype
    assert laid.to_list() == each[codes].to_list()
    told = numbered_texts(laid)
    assert told is not None
    assert [told[1][code] for code in told[0].tolist()] == [distinct[code] for code in codes.tolist()]


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_texts_of_which_one_is_missing_are_not_laid(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_strings, "MANY_ROWS", 0)
    each = nw.from_native(MAKERS[kind](["a", None]), series_only=True)

    assert repeated(each, ["a", None], np.zeros(3, np.int32)) is None


def test_too_many_bytes_for_short_offsets_are_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_strings, "MANY_ROWS", 0)
    monkeypatch.setattr(arrow_strings, "MOST_BYTES", 8)
    each = {kind: nw.from_native(MAKERS[kind](["abc"]), series_only=True) for kind in ("arrow", "large arrow")}

    assert repeated(each["arrow"], ["abc"], np.zeros(3, np.int32)) is None
    assert repeated(each["large arrow"], ["abc"], np.zeros(3, np.int32)) is not None
