"""Missing values that match anything: how many rows match a combination in which some values are not known.

Two combinations match when they agree in every column in which both are known (the reading of missing values in the
statistical offices' tools). So classes overlap, and suppressing a row takes its support from others: the rows that can
stay are the largest set in which every row still has k matches.
"""

import numpy as np
import numpy.typing as npt

from sfumato.microdata.classes import Counts, Mask

Codes = npt.NDArray[np.int32]


def matching_rows(codes: Codes, unknown: Mask, counts: Counts) -> Counts:
    """For each combination, the rows that match it, itself included.

    Args:
        codes: (combinations, columns); unknown: which of them are missing; counts: rows of each.

    >>> matching_rows(np.array([[0], [1], [2]]), np.array([[False], [False], [True]]), np.array([1, 2, 4])).tolist()
    [5, 6, 7]
    """
    vague = np.flatnonzero(unknown.any(axis=1))
    matches = _equal_rows(codes, unknown, counts)
    for place in vague.tolist():
        agrees = ((codes == codes[place]) | unknown | unknown[place]).all(axis=1)
        agrees &= ~_same(codes, unknown, place)
        matches[place] += int(counts[agrees].sum())
        others = agrees & ~unknown.any(axis=1)
        matches[others] += counts[place]
    return matches


def _equal_rows(codes: Codes, unknown: Mask, counts: Counts) -> Counts:
    """Rows that are equal, missing values included."""
    marked = np.where(unknown, -1, codes)
    _, owners = np.unique(marked, axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    sizes = np.bincount(owners, weights=counts).astype(np.int64) if len(counts) else np.zeros(0, np.int64)
    return sizes[owners]


def _same(codes: Codes, unknown: Mask, place: int) -> Mask:
    """Combinations equal to one, missing values included: they are counted already."""
    same: Mask = (unknown == unknown[place]).all(axis=1)
    same &= ((codes == codes[place]) | unknown).all(axis=1)
    return same


def failing_classes(codes: Codes, unknown: Mask, counts: Counts, k: int) -> Mask:
    """The classes that must be suppressed so that every row left has k matches among the rows left."""
    failing = np.zeros(len(counts), bool)
    while True:
        left = np.flatnonzero(~failing)
        short = matching_rows(codes[left], unknown[left], counts[left]) < k
        if not short.any():
            return failing
        failing[left[short]] = True
