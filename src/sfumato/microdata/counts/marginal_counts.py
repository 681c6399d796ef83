"""Marginal counts: rows counted by some columns, summed from counts by more columns without reading rows again."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.key_packing import packing_of


def counted_by(text_counts: ValueCounts, columns: Sequence[str]) -> ValueCounts:
    """Return the value counts by a subset of the columns, as an engine would count them.

    >>> both = ValueCounts(("a", "b"), (("x", "y"), ("1",)), np.array([[0, 0], [1, 0]], np.int32), np.array([2, 3]), 5)
    >>> counted_by(both, ["b"]).counts.tolist()
    [5]
    """
    places = [text_counts.columns.index(name) for name in columns]
    values = tuple(text_counts.values[place] for place in places)
    codes = np.ascontiguousarray(text_counts.codes[:, places])
    packing = packing_of([len(texts) for texts in values])
    keys = packing.pack(codes)
    order = packing.order_of(keys)
    ordered = keys[:, order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    counts = np.add.reduceat(text_counts.counts[order], starts) if len(starts) else text_counts.counts[:0]
    return ValueCounts(tuple(columns), values, codes[order[starts]], counts, text_counts.rows)


def in_order(texts: Mapping[str, Sequence[str | None]], number: str) -> ValueCounts:
    """Return one entry per row, with a further column that numbers the rows.

    >>> in_order({"a": ["x", "x"]}, "place").codes.tolist()
    [[0, 0], [0, 1]]
    """
    places = [{text: place for place, text in enumerate(dict.fromkeys(column))} for column in texts.values()]
    rows = len(next(iter(texts.values())))
    pairs = zip(places, texts.values(), strict=True)
    codes = [*([found[text] for text in column] for found, column in pairs), range(rows)]
    values = (*(tuple(found) for found in places), tuple(map(str, range(rows))))
    return ValueCounts((*texts, number), values, np.array(codes, np.int32).T, np.ones(rows, np.int64), rows)


def one_row_each(text_counts: ValueCounts) -> ValueCounts:
    """Return one row per person, without the person column, which comes last: persons do not confirm themselves.

    >>> codes, counts = np.array([[0, 0], [1, 0]], np.int32), np.array([2, 3])
    >>> both = ValueCounts(("a", "who"), (("x", "y"), ("p",)), codes, counts, 5)
    >>> one_row_each(both).counts.tolist()
    [1]
    """
    _, first = np.unique(text_counts.codes[:, -1], return_index=True)
    codes = np.ascontiguousarray(text_counts.codes[first, :-1])
    ones = np.ones(len(first), text_counts.counts.dtype)
    return ValueCounts(text_counts.columns[:-1], text_counts.values[:-1], codes, ones, len(first))
