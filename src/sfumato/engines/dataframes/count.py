"""Count a frame: distinct texts, the index of each row's text, and rows grouped by these."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.dataframes.factorize import Codes, first_rows
from sfumato.microdata.counts import row_kernels
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.key_packing import Packing, Words, counted_words, packing_of

Numbers = npt.NDArray[np.float64]
# The distinct texts of a column and, for each row, the index of its text.
Coded = tuple[tuple[str | None, ...], Codes]
# Rows to keep: indices, or all.
Kept = npt.NDArray[np.int64] | slice
ALL = slice(None)
# Types of which equal values have the same text; other values are compared by their texts.
SAME_TEXT = {str, int, bool, float, date, datetime}
# Types of columns that contain double-precision numbers only; a missing value is NaN.
FLOATS = {float, type(None)}


def count_rows(columns: Sequence[str], coded: Sequence[Coded], keep: Kept, rows: int) -> ValueCounts:
    """Count the distinct combinations of columns among the kept rows; `rows` is the total number."""
    present = [*coded] if isinstance(keep, slice) else [occurring(*entry, keep) for entry in coded]
    values = tuple(texts for texts, _ in present)
    packing = packing_of([max(len(texts), 1) for texts in values])
    if not coded or packing.words > 1:
        return _count_wide(columns, present, rows)
    keys, counts = counted_words(packed([codes for _, codes in present], packing))
    return ValueCounts(tuple(columns), values, packing.unpack(keys.reshape(1, -1)), counts, rows)


def _count_wide(columns: Sequence[str], present: Sequence[Coded], rows: int) -> ValueCounts:
    """Count combinations if the codes of a row do not fit into one word."""
    codes = np.column_stack([codes for _, codes in present]) if present else np.zeros((0, 0), np.int32)
    values = tuple(texts for texts, _ in present)
    codes = codes[packing_of([max(len(texts), 1) for texts in values]).order(codes)]
    first = np.ones(len(codes), bool)
    first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(codes))).astype(np.int64)
    return ValueCounts(tuple(columns), values, np.ascontiguousarray(codes[starts]), counts, rows)


def packed(columns: Sequence[Codes], packing: Packing, tables: Sequence[Codes] | None = None) -> Words:
    """Return the codes of each row packed into one word; no matrix of all codes is made.

    Args:
        tables: For each column a table that replaces its codes, or None.
    """
    keys = np.zeros(len(columns[0]), np.uint64)
    for place, (column, shift) in enumerate(zip(columns, packing.shift, strict=True)):
        if tables is None:
            row_kernels.pack_codes(column, packing.shift, place, keys)
        else:
            row_kernels.pack_looked_up(tables[place].astype(np.uint64) << shift, column, keys)
    return keys


def occurring(texts: tuple[str | None, ...], codes: Codes, rows: Kept) -> Coded:
    """Return the texts that occur in some rows, and the code of each of these rows."""
    taken, occurs = codes[rows], np.zeros(len(texts), bool)
    row_kernels.mark_codes(taken, occurs)
    if occurs.all():
        return texts, taken
    places = (np.cumsum(occurs) - 1).astype(np.int32)
    return tuple(text for text, there in zip(texts, occurs.tolist(), strict=True) if there), places[taken]


def factorize(values: list[Any], written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts of a list of values, and the code of each value."""
    numbers = floats_of(values)
    if numbers is not None:
        return _factorize_floats(numbers, written)
    told_apart = _distinguishable(values, written)
    # Two passes in C take a third of the time of one pass in Python.
    places = {value: place for place, value in enumerate(dict.fromkeys(told_apart))}
    codes = np.fromiter(map(places.__getitem__, told_apart), np.int32, len(values))
    return coded_of([values[row] for row in first_rows(codes).tolist()], codes, written)


def coded_of(distinct: Sequence[Any], codes: Codes, written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts of values, and the code of each row's text; `codes` has the value of each row."""
    texts: dict[str | None, int] = {}
    recode = np.fromiter((texts.setdefault(written(value), len(texts)) for value in distinct), np.int32, len(distinct))
    if len(texts) == len(recode):  # each value has its own text
        return tuple(texts), codes
    return tuple(texts), recode[codes]


def _factorize_floats(numbers: Numbers, written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts and codes of numbers, by sorting: measurements have nearly as many values as rows."""
    distinct, firsts, codes = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return tuple(map(written, distinct[order].tolist())), places[codes.reshape(-1)]


def strings_of(values: list[Any], written: Callable[[Any], str | None]) -> list[str | None]:
    """Return the text of each value; equal numbers are formatted once."""
    numbers = floats_of(values)
    if numbers is None:
        return list(map(written, values))
    distinct, codes = np.unique(numbers, return_inverse=True)
    texts: list[str | None] = np.array([*map(written, distinct.tolist())], object)[codes.reshape(-1)].tolist()
    return texts


def floats_of(values: list[Any]) -> Numbers | None:
    """Return double-precision numbers, NaN if missing; None for values of other types."""
    return np.array(values, np.float64) if set(map(type, values)) <= FLOATS else None


def plain_floats(numbers: Numbers) -> Numbers:
    """Return the numbers with one sign of zero and one NaN, as in their texts."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0)


def _distinguishable(values: list[Any], written: Callable[[Any], str | None]) -> list[Any]:
    """Return the values in a form in which they are equal only if their texts are."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds <= SAME_TEXT:
        return list(map(written, values))
    return values if len(kinds) <= 1 else list(zip(map(type, values), values, strict=True))
