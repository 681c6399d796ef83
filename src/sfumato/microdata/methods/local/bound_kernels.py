"""Compiled loops of the bound of local recoding: for each combination the cheapest node at which it has company.

Shapes: n combinations of m columns; `labels` and `costs` are (m, levels, values): for each column, level and value code
its label, shifted to where the column lies in a key, and what a row with it loses.
"""

from typing import NamedTuple

import numpy as np

from sfumato.loops.arrays import Halves2, Ints, Ints2, Reals, Reals2, Reals3, Words, Words2, Words3
from sfumato.loops.compiled import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
# A little more than a cost that was met before: sums of the same costs in another order differ by less.
_SAME = 1e-12


class Slots(NamedTuple):
    """Room for cells: stamps, rows (2^b,), keys (2^b,); stamp (1,)."""

    stamps: Ints
    rows: Ints
    keys: Words
    stamp: Ints


class Room(NamedTuple):
    """Room for each number of columns that have a level: keys (m + 1, n) of all combinations; open (m + 1, n) those
    that could be cheaper, their costs (m + 1, n); many (m + 1,) how many these are; level (m,)."""

    keys: Words2
    open: Ints2
    costs: Reals2
    many: Ints
    level: Ints


@compiled
def look_at(counts: Ints, keys: Words, rows: Ints, costs: Reals, many: int, k: int, slots: Slots, cheapest: Reals):
    """Lower the cheapest costs of some combinations to those at a node where their cells have k rows.

    Args:
        keys: (n,) the cell of every combination; rows, costs: the first `many` are combinations, and what they lose.
    """
    last = np.uint64(len(slots.stamps) - 1)
    slots.stamp[0] += 1
    stamp = slots.stamp[0]
    for at in range(many):
        slot = slot_of(keys[rows[at]], last, stamp, slots)
        if slots.stamps[slot] != stamp:
            slots.stamps[slot], slots.keys[slot], slots.rows[slot] = stamp, keys[rows[at]], 0
    for row in range(len(keys)):
        slot = slot_of(keys[row], last, stamp, slots)
        if slots.stamps[slot] == stamp:
            slots.rows[slot] += counts[row]
    for at in range(many):
        if slots.rows[slot_of(keys[rows[at]], last, stamp, slots)] >= k:
            cheapest[rows[at]] = min(cheapest[rows[at]], costs[at])


@compiled
def slot_of(key, last, stamp, slots):
    """Where a cell stands, or could."""
    slot = ((key * _MIX) >> np.uint64(20)) & last
    while slots.stamps[slot] == stamp and slots.keys[slot] != key:
        slot = (slot + _ONE) & last
    return slot


@compiled
def widen(codes: Halves2, column: int, level: int, labels: Words3, costs: Reals3, cheapest: Reals, room: Room):
    """Give a further column a level: keys of all combinations, and those that could still be cheaper.

    Returns:
        How many these are.
    """
    here, there = room.keys[column], room.keys[column + 1]
    for row in range(len(codes)):
        there[row] = here[row] | labels[column, level, codes[row, column]]
    many = 0
    for at in range(room.many[column]):
        row = room.open[column, at]
        cost = room.costs[column, at] + costs[column, level, codes[row, column]]
        if cost < cheapest[row] - _SAME:
            room.open[column + 1, many] = row
            room.costs[column + 1, many] = cost
            many += 1
    room.many[column + 1] = many
    return many


@compiled
def walk(
    codes: Halves2,
    counts: Ints,
    labels: Words3,
    costs: Reals3,
    lowest: Ints,
    highest: Ints,
    k: int,
    slots: Slots,
    room: Room,
    cheapest: Reals,
    stop: Ints,
):
    """Go through all nodes, column by column; what cannot be cheaper for anybody is left out with all above it.

    Args:
        lowest, highest: (m,) the levels of each column; stop: (1,) a flag.
        cheapest: (n,) receives the least that a row of each combination can lose.

    Returns:
        Whether all nodes were gone through.
    """
    width = codes.shape[1]
    column = 0
    room.level[0] = lowest[0]
    while column >= 0:
        if stop[0]:
            return False
        if room.level[column] > highest[column]:
            column -= 1
            if column >= 0:
                room.level[column] += 1
            continue
        many = widen(codes, column, room.level[column], labels, costs, cheapest, room)
        if many == 0:
            # A higher level costs no less.
            room.level[column] = highest[column] + 1
        elif column + 1 == width:
            look_at(counts, room.keys[width], room.open[width], room.costs[width], many, k, slots, cheapest)
            room.level[column] += 1
        else:
            column += 1
            room.level[column] = lowest[column]
    return True
