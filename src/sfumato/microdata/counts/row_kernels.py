"""Compiled loops over the codes of n rows in one pass each, without the widened copies NumPy would make."""

import numpy as np

from sfumato.native.array_types import Bool, Int32, Int64, UInt64
from sfumato.native.dispatch import compiled


@compiled
def look_up(table: Int32, places: Int32 | Int64, out: Int32):
    """Look up table entries at indices (n,): out (n,)."""
    for row in range(len(places)):
        out[row] = table[places[row]]


@compiled
def mark_codes(codes: Int32, seen: Bool):
    """Mark in `seen`, which has an entry per code, the codes that occur."""
    for row in range(len(codes)):
        seen[codes[row]] = True


@compiled
def pack_codes(codes: Int32, shift: UInt64, place: int, keys: UInt64):
    """Add codes (n,) to keys (n,), shifted by the given entry of `shift`."""
    by = shift[place]
    for row in range(len(codes)):
        keys[row] |= np.uint64(codes[row]) << by


@compiled
def pack_looked_up(table: UInt64, codes: Int32, keys: UInt64):
    """Add the table entries of codes (n,) to keys (n,)."""
    for row in range(len(codes)):
        keys[row] |= table[codes[row]]
