"""Pack the codes of a combination exactly into as few 64-bit words as possible, for any number of columns."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts import grouping_kernels

Words = npt.NDArray[np.uint64]
WORD_BITS = 64
# Maximum size of a direct lookup table, as a multiple of the number of words searched.
MOST_SPAN = 4


@dataclass(frozen=True, slots=True)
class Packing:
    """Position of each column's code: its word, the shift within it, and the mask of its bits.

    No code is split over two words and none overflows: a word takes columns as long as their bits fit.
    """

    word: npt.NDArray[np.int64]
    shift: npt.NDArray[np.uint64]
    mask: npt.NDArray[np.uint64]
    words: int

    def pack(self, codes: npt.NDArray[np.int32]) -> Words:
        """The packed keys of combinations, shape (words, combinations)."""
        keys = np.zeros((self.words, len(codes)), np.uint64)
        grouping_kernels.pack(codes, self.word, self.shift, keys)
        return keys

    def unpack(self, keys: Words) -> npt.NDArray[np.int32]:
        """The codes behind packed keys, shape (combinations, columns)."""
        codes = np.empty((keys.shape[1], len(self.word)), np.int32)
        grouping_kernels.unpack(np.ascontiguousarray(keys), self.word, self.shift, self.mask, codes)
        return codes

    def bits(self, columns: Iterable[int]) -> Words:
        """The bits of some columns, shape (words,)."""
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
    """The distinct words in their order, and how many there are of each.

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
