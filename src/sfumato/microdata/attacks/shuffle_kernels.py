"""Compiled loops that reproduce the shuffles of R and Python from the bits of a Mersenne twister."""

import numpy as np

from sfumato.native.array_types import Int64
from sfumato.native.dispatch import compiled


@compiled
def order_of_r(words: Int64, left: Int64, first: int):
    """Return the first positions of the order that R draws; fewer if the random words do not suffice.

    words: of 32 bits each, of which R takes the upper half; left: (rows,) the rows, which are changed.
    """
    number, order = len(left), np.empty(first, np.int64)
    used = 0
    for place in range(first):
        size, bits = number - place, 0
        while (1 << bits) < size:
            bits += 1
        draws, at = bits // 16 + 1, size
        while at >= size:
            if used + draws > len(words):
                return order[:place]
            at = 0
            for draw in range(draws):
                at = (at << 16) | (words[used + draw] >> 16)
            used += draws
            at &= (1 << bits) - 1
        order[place] = left[at]
        left[at] = left[size - 1]
    return order


@compiled
def order_of_python(words: Int64, order: Int64):
    """Return how many random words Python's `shuffle` uses to shuffle the rows; none if they do not suffice."""
    used, size = 0, len(order)
    while size > 1:
        bits = 0
        while (1 << bits) <= size:
            bits += 1
        at = size
        while at >= size:
            if used == len(words):
                return -1
            at = words[used] >> (32 - bits)
            used += 1
        size -= 1
        order[size], order[at] = order[at], order[size]
    return used
