"""Compiled loop: sums of integer rows that are even in every column and odd on the right-hand side."""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Int64, UInt64_2
from sfumato.native.dispatch import compiled

_ONE = np.uint64(1)


@compiled
def _is_even(words, row, columns):
    """Whether a sum is even in every column."""
    left = np.uint64(0)
    for word in range(columns):
        left |= words[row, word]
    return left == 0


@compiled
def odd_sums(
    words: UInt64_2,
    columns: int,
    odd: Bool,
    slack: Float64,
    prices: Float64,
    order: Int64,
    whims: Float64,
    found: UInt64_2,
):
    """Write the sums to `found`, by the bits of their rows; the answer is their number.

    Columns are made even one after the other: a row that is odd there is added to the others that are, or the column
    is paid for, whichever costs less. What costs 1 or more is no use.

    Args:
        words: (rows, words) bits of the columns in which a row is odd, then those of the rows it is the sum of.
        columns: How many of the words are of columns.
        odd: (rows,) whether the right side is odd; slack: (rows,) what a row costs.
        prices: (columns,) what it costs that a sum is odd there; order: in which they are made even.
        whims: (rows,) added to the slack when a row is chosen.
        found: (most, words of rows).
    """
    rows, width = words.shape
    count = 0
    for column in order:
        word, bit = column >> 6, _ONE << np.uint64(column & 63)
        chosen, least = -1, np.inf
        for row in range(rows):
            if slack[row] < 1.0 and words[row, word] & bit != 0 and slack[row] + whims[row] < least:
                chosen, least = row, slack[row] + whims[row]
        if chosen < 0:
            continue
        # The chosen row comes last: the others are summed with it as it is.
        for turn in range(rows + 1):
            row = chosen if turn == rows else turn
            if slack[row] >= 1.0 or words[row, word] & bit == 0 or (turn == chosen and turn < rows):
                continue
            if row != chosen and slack[chosen] <= prices[column]:
                slack[row] += slack[chosen]
                odd[row] = odd[row] != odd[chosen]
                for at in range(width):
                    words[row, at] ^= words[chosen, at]
            else:
                slack[row] += prices[column]
                words[row, word] ^= bit
            if slack[row] < 1.0 and _is_even(words, row, columns):
                if odd[row] and count < len(found):
                    for at in range(columns, width):
                        found[count, at - columns] = words[row, at]
                    count += 1
                slack[row] = 1.0
    return count
