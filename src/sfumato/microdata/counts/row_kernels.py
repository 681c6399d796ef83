"""Compiled loops over the codes of n rows in one pass each, without the widened copies NumPy would make."""

import numpy as np

from sfumato.loops.arrays import Flags, Halves, Ints, Words
from sfumato.loops.compiled import compiled


@compiled
def look_up(table: Halves, places: Halves | Ints, out: Halves):
    """What a table has at some places (n,): out (n,)."""
    for row in range(len(places)):
        out[row] = table[places[row]]


@compiled
def mark_codes(codes: Halves, seen: Flags):
    """Set in `seen`, which has a place for every code, those that some row has."""
    for row in range(len(codes)):
        seen[codes[row]] = True


@compiled
def pack_codes(codes: Halves, shift: Words, place: int, keys: Words):
    """Lay codes (n,) into keys (n,), moved as far as a place of `shift` says."""
    by = shift[place]
    for row in range(len(codes)):
        keys[row] |= np.uint64(codes[row]) << by


@compiled
def pack_looked_up(table: Words, codes: Halves, keys: Words):
    """Lay what a table has for codes (n,) into keys (n,)."""
    for row in range(len(codes)):
        keys[row] |= table[codes[row]]
