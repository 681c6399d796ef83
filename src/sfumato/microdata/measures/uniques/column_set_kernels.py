"""Compiled loops over sets of columns: the rows that a set makes unique while none of its subsets does."""

import numpy as np

from sfumato.native.array_types import Float64, Float64_2, Int32, Int64, UInt8, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

_ONE = np.uint64(1)


@compiled
def single_out(owners: Int32, sizes: Int64, rows: Int32, out_rows: Int32, singled: UInt64):
    """Mark in `singled` the rows that are alone in their class; `out_rows` receives a row of each class.

    Args:
        owners: (n,) the class of each entry that was grouped; rows: (n,) a combination of each of these entries.
        sizes: (classes,) their rows; singled: bits of combinations, none set.

    Returns:
        How many rows are alone, and how many ordered pairs of rows lie in one class.
    """
    alone, pairs = 0, 0.0
    for entry in range(len(owners)):
        owner, row = owners[entry], rows[entry]
        out_rows[owner] = row
        if sizes[owner] == 1:
            alone += 1
            singled[row >> 6] |= _ONE << np.uint64(row & 63)
    for size in sizes:
        pairs += np.float64(size) * (size - 1)
    return alone, pairs


@compiled
def score(
    singled: UInt64, parts: UInt64_2, columns: Int64, points: float, scores: Float64, shares: Float64_2, fewest: UInt8
):
    """Add the points of a set of columns to the rows that have it as a minimal unique.

    Args:
        singled: bits of the rows that the set singles out; parts: (parts, words) the same of sets with a column less.
        scores: (combinations,); shares: (combinations, columns) the points of each column; fewest: (combinations,)
            the number of columns of a row's smallest minimal unique, where larger sets come first.

    Returns:
        How many rows there are.
    """
    uniques = 0
    for word in range(len(singled)):
        bits = singled[word]
        for part in range(len(parts)):
            bits &= ~parts[part, word]
        row = word * 64
        while bits:
            if bits & _ONE:
                uniques += 1
                scores[row] += points
                fewest[row] = len(columns)
                for column in columns:
                    shares[row, column] += points
            bits >>= _ONE
            row += 1
    return uniques
