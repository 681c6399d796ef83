"""Combinations of codes: packed into words, numbered, compared between two counts, matched with missing values.

Two combinations match when they agree in every column in which both are present (the convention of official statistics
tools). Classes therefore overlap, and suppressing one row reduces the class size of others.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import grouping_kernels
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts
from sfumato.values import Value

Words = npt.NDArray[np.uint64]
WORD_BITS = 64
# Maximum size of a direct lookup table, as a multiple of the number of words searched.
MOST_SPAN = 4


class Packing(Value):
    """Position of each column's code: its word, the shift within it, and the mask of its bits.

    No code is split over two words and none overflows: a word takes columns as long as their bits fit.
    """

    word: npt.NDArray[np.int64]
    shift: npt.NDArray[np.uint64]
    mask: npt.NDArray[np.uint64]
    words: int

    def pack(self, codes: npt.NDArray[np.int32]) -> Words:
        """Return the packed keys of combinations, shape (words, combinations)."""
        keys = np.zeros((self.words, len(codes)), np.uint64)
        grouping_kernels.pack(codes, self.word, self.shift, keys)
        return keys

    def unpack(self, keys: Words) -> npt.NDArray[np.int32]:
        """Return the codes behind packed keys, shape (combinations, columns)."""
        codes = np.empty((keys.shape[1], len(self.word)), np.int32)
        grouping_kernels.unpack(np.ascontiguousarray(keys), self.word, self.shift, self.mask, codes)
        return codes

    def bits(self, columns: Iterable[int]) -> Words:
        """Return the bits of some columns, shape (words,)."""
        bits = np.zeros(self.words, np.uint64)
        for column in columns:
            bits[self.word[column]] |= self.mask[column] << self.shift[column]
        return bits

    def order(self, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Return the stable order that sorts combinations by their codes, first column first."""
        return self.order_of(self.pack(codes))

    def order_of(self, keys: Words) -> npt.NDArray[np.int64]:
        """Return the same order from packed keys."""
        if self.words > 1:
            return np.lexsort(keys)
        width = keys.shape[1].bit_length()
        if len(self.word) and int(self.shift[-1]) + int(self.mask[-1]).bit_length() + width <= WORD_BITS:
            # Keys that include their own index are all different, so the fastest sort is stable.
            placed = np.sort(keys[0] << np.uint64(width) | np.arange(keys.shape[1], dtype=np.uint64))
            return (placed & np.uint64((1 << width) - 1)).astype(np.int64)
        return np.argsort(keys[0], kind="stable")


def packing_of(sizes: Sequence[int]) -> Packing:
    """Return the packing for columns with given numbers of codes.

    >>> packing_of([1000] * 30).words
    5
    """
    word, shift, mask = [], [], []
    at, used = 0, 0
    for size in sizes:
        bits = _bits(size)
        if used + bits > WORD_BITS:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << bits) - 1)
        used += bits
    return Packing(np.array(word, np.int64), np.array(shift, np.uint64), np.array(mask, np.uint64), at + 1)


def fits_a_word(sizes: Iterable[int]) -> bool:
    """Return whether one word holds the codes of columns with given numbers of codes.

    >>> fits_a_word([1000] * 6), fits_a_word([1000] * 7)
    (True, False)
    """
    return sum(map(_bits, sizes)) <= WORD_BITS


def _bits(size: int) -> int:
    return max(int(size - 1).bit_length(), 1)


def counted_words(words: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the distinct words in ascending order, and the count of each.

    >>> [part.tolist() for part in counted_words(np.array([7, 3, 7], np.uint64))]
    [[3, 7], [1, 2]]
    """
    ordered = np.sort(words)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def places_of(words: Words, keys: Words) -> npt.NDArray[np.int32]:
    """Return for each word the index of the equal key among distinct keys; -1 if there is none.

    >>> places_of(np.array([7, 3, 9], np.uint64), np.array([9, 7], np.uint64)).tolist()
    [1, -1, 0]
    """
    span = int(keys.max(initial=0)) + 1
    if span > MOST_SPAN * len(words):
        order = np.argsort(keys)
        places = order[np.minimum(np.searchsorted(keys, words, sorter=order), len(keys) - 1)].astype(np.int32)
        return np.where(keys[places] == words, places, np.int32(-1))
    table = np.full(span + 1, -1, np.int32)
    table[keys] = np.arange(len(keys), dtype=np.int32)
    return table[np.minimum(words, np.uint64(span))]


Texts = Sequence[str | None]
AnyCodes = npt.NDArray[np.signedinteger[Any]]
MOST = 1 << 62


class CountDifference(Value):
    """The number of rows of each combination of texts; duplicate combinations are added.

    Attributes:
        texts: The texts of each column; None is the missing value.
        codes: The indices of each combination's texts, (combinations, columns).
    """

    texts: tuple[Texts, ...]
    codes: AnyCodes
    rows: Counts

    @property
    def total(self) -> int:
        return int(self.rows.sum())

    def differing(self, other: "CountDifference") -> int:
        """Return the number of combinations with a different number of rows in the other count.

        >>> one, two = np.array([[0], [1]]), np.array([5, 7])
        >>> other = CountDifference((["b", "a", "c"],), np.array([[1], [2]]), np.array([5, 7]))
        >>> CountDifference((["a", "b"],), one, two).differing(other)
        2
        """
        return int(np.count_nonzero(self._differences(other)))

    def exceeded(self, other: "CountDifference") -> int:
        """Return the number of combinations with more rows in the other count."""
        return int(np.count_nonzero(self._differences(other) < 0))

    def _differences(self, other: "CountDifference") -> Counts:
        """Return the difference in rows of each combination of both counts."""
        columns = [_together(*texts) for texts in zip(self.texts, other.texts, strict=True)]
        parts = [
            np.column_stack([places[codes[:, at]] for at, places in enumerate(luts)])
            for codes, luts in (
                (self.codes, [here for _, here, _ in columns]),
                (other.codes, [there for _, _, there in columns]),
            )
        ]
        owners, _ = numbers_of(np.concatenate(parts), [size for size, _, _ in columns])
        return np.bincount(owners, weights=np.concatenate([self.rows, -other.rows])).astype(np.int64)


def _together(here: Texts, there: Texts) -> tuple[int, AnyCodes, AnyCodes]:
    """Return the number of distinct texts in two lists, and the number of each text of both."""
    numbers: dict[str | None, int] = {}
    found = [np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64) for texts in (here, there)]
    return len(numbers), found[0], found[1]


def numbers_of(codes: AnyCodes, sizes: Sequence[int]) -> tuple[Counts, Counts]:
    """Number distinct combinations in the order of their codes; also return their first positions.

    Args:
        sizes: The number of codes of each column.

    >>> numbers_of(np.array([[1, 0], [0, 2], [1, 0]]), [2, 3])
    (array([1, 0, 1]), array([1, 0]))
    """
    keys, span = np.zeros(len(codes), np.int64), 1
    for column, size in enumerate(sizes):
        if span * size > MOST:
            unique, keys = np.unique(keys, return_inverse=True)
            span = len(unique)
        keys = keys * size + codes[:, column]
        span *= max(size, 1)
    _, first, owners = np.unique(keys, return_index=True, return_inverse=True)
    return owners.reshape(-1), first


Codes = npt.NDArray[np.int32]
# Number of pattern pairs that costs as much as one pass over all combinations.
MANY_PATTERNS = 20


def matching_rows(codes: Codes, unknown: BoolArray, counts: Counts) -> Counts:
    """Return, for each combination, the rows that match it, itself included.

    Args:
        codes: The value codes, an array (combinations, columns).
        unknown: Which codes are missing values.
        counts: The number of rows of each combination.

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
        patterns: The distinct patterns, an array (patterns, columns).
        owners: The pattern of each combination.
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
    """Return rows that are equal, missing values included."""
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
