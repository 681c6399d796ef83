"""Missing values that match anything: count the rows that match a combination with missing values.

Two combinations match when they agree in every column in which both are present (the convention of official statistics
tools). Classes therefore overlap, and suppressing one row reduces the class size of others. The rows that can be
published are the largest set in which every row still has k matches.
"""

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.count_differences import numbers_of
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts

Codes = npt.NDArray[np.int32]
# Number of pattern pairs that costs as much as one pass over all combinations.
MANY_PATTERNS = 20


def matching_rows(codes: Codes, unknown: BoolArray, counts: Counts) -> Counts:
    """For each combination, the rows that match it, itself included.

    Args:
        codes: (combinations, columns); unknown: which of them are missing; counts: rows of each.

    >>> matching_rows(np.array([[0], [1], [2]]), np.array([[False], [False], [True]]), np.array([1, 2, 4])).tolist()
    [5, 6, 7]
    """
    vague = np.flatnonzero(unknown.any(axis=1))
    patterns, owners = np.unique(unknown, axis=0, return_inverse=True)
    if len(patterns) ** 2 > len(vague) * MANY_PATTERNS:
        return by_rows(codes, unknown, counts)
    return by_patterns(codes, patterns, owners.reshape(-1), counts)


def by_patterns(codes: Codes, patterns: BoolArray, owners: Counts, counts: Counts) -> Counts:
    """Count matches by pairs of patterns of missing columns; fast if there are few patterns.

    Args:
        patterns: (patterns, columns); owners: the pattern of each combination.
    """
    matches = np.zeros(len(counts), np.int64)
    sizes = codes.max(axis=0, initial=0) + 1
    places = [np.flatnonzero(owners == pattern) for pattern in range(len(patterns))]
    for one in range(len(patterns)):
        for other in range(one, len(patterns)):
            columns = np.flatnonzero(~patterns[one] & ~patterns[other])
            here, there = places[one], places[other]
            both = np.concatenate([here, there])
            numbers, first = numbers_of(codes[np.ix_(both, columns)], sizes[columns].tolist())
            left, right = numbers[: len(here)], numbers[len(here) :]
            matches[here] += _sums(right, counts[there], len(first))[left]
            if one != other:
                matches[there] += _sums(left, counts[here], len(first))[right]
    return matches


def _sums(numbers: Counts, counts: Counts, many: int) -> Counts:
    return np.bincount(numbers, weights=counts, minlength=many).astype(np.int64)


def by_rows(codes: Codes, unknown: BoolArray, counts: Counts) -> Counts:
    """Count matches by comparing each combination with missing values to all combinations."""
    matches = _equal_rows(codes, unknown, counts)
    for place in np.flatnonzero(unknown.any(axis=1)).tolist():
        agrees = ((codes == codes[place]) | unknown | unknown[place]).all(axis=1)
        agrees &= ~_same(codes, unknown, place)
        matches[place] += int(counts[agrees].sum())
        others = agrees & ~unknown.any(axis=1)
        matches[others] += counts[place]
    return matches


def _equal_rows(codes: Codes, unknown: BoolArray, counts: Counts) -> Counts:
    """Rows that are equal, missing values included."""
    marked = np.where(unknown, -1, codes)
    _, owners = np.unique(marked, axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    sizes = np.bincount(owners, weights=counts).astype(np.int64) if len(counts) else np.zeros(0, np.int64)
    return sizes[owners]


def _same(codes: Codes, unknown: BoolArray, place: int) -> BoolArray:
    """Return the combinations equal to one, missing values included, which are counted already."""
    same: BoolArray = (unknown == unknown[place]).all(axis=1)
    same &= ((codes == codes[place]) | unknown).all(axis=1)
    return same


def failing_classes(codes: Codes, unknown: BoolArray, counts: Counts, k: int) -> BoolArray:
    """Return the classes to suppress so that every remaining row has k matches among the remaining rows."""
    failing = np.zeros(len(counts), bool)
    while True:
        left = np.flatnonzero(~failing)
        short = matching_rows(codes[left], unknown[left], counts[left]) < k
        if not short.any():
            return failing
        failing[left[short]] = True
