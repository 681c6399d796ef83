"""Compiled loop that numbers persons in the order in which their keys first occur."""

import numpy as np

from sfumato.native.array_types import Int32, UInt64
from sfumato.native.dispatch import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)


@compiled
def number(keys: UInt64, row: int, many: int, table: Int32, distinct: UInt64, numbers: Int32):
    """Number keys, equal ones alike, from a row on, until all are numbered or the hash table is half full.

    Args:
        keys: (n,); many: how many distinct ones there are so far, the first so many of `distinct` (n,).
        table: (2^b,) numbers by hashed key, -1 where none stands; numbers: (n,) receive those of the rows.

    Returns:
        The first row that is not numbered, and how many distinct keys there are.
    """
    last = np.uint64(len(table) - 1)
    down = np.uint64(64)
    size = len(table)
    while size > 1:
        size >>= 1
        down -= _ONE
    while row < len(keys) and 2 * many < len(table):
        key = keys[row]
        slot = (key * _MIX) >> down
        while table[slot] >= 0 and distinct[table[slot]] != key:
            slot = (slot + _ONE) & last
        if table[slot] < 0:
            table[slot] = many
            distinct[many] = key
            many += 1
        numbers[row] = table[slot]
        row += 1
    return row, many
