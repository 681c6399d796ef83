"""Rows counted by some columns, from those counted by more: sums, with no second look at the rows."""

from collections.abc import Sequence

import numpy as np

from sfumato.microdata.counts.frequencies import Counted
from sfumato.microdata.counts.packing import packing_of


def counted_by(counted: Counted, columns: Sequence[str]) -> Counted:
    """The rows counted by some of the columns they are counted by, as an engine would count them.

    >>> both = Counted(("a", "b"), (("x", "y"), ("1",)), np.array([[0, 0], [1, 0]], np.int32), np.array([2, 3]), 5)
    >>> counted_by(both, ["b"]).counts.tolist()
    [5]
    """
    places = [counted.columns.index(name) for name in columns]
    values = tuple(counted.values[place] for place in places)
    codes = np.ascontiguousarray(counted.codes[:, places])
    packing = packing_of([len(texts) for texts in values])
    keys = packing.pack(codes)
    order = packing.order_of(keys)
    ordered = keys[:, order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    counts = np.add.reduceat(counted.counts[order], starts) if len(starts) else counted.counts[:0]
    return Counted(tuple(columns), values, codes[order[starts]], counts, counted.rows)
