"""Compiled loops of the simulated annealing: open and close candidate classes (cells) row by row at random.

A row in an open cell stores the next cheapest one; a class stores its cost if all its rows went there. The gain of
opening a cell is therefore computed by visiting each of its rows once: a class that loses rows saves those beyond k, or
is closed.

Shapes: n combinations in c cells, s slots of open cells. Cells are numbered by their cost, the cheapest first. The slot
NOWHERE is no class: rows in it are unassigned and have the highest loss.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.local_recoding.exchange_kernels import link, unlink
from sfumato.native.array_types import Float64, Int32, Int64, UInt64
from sfumato.native.dispatch import compiled

NOWHERE = 0
_KEEP, _SPARE, _CLOSE, _FILL = 0, 1, 2, 3
_LEAST = 1e-9
# Number of attempts between updates of the temperature and moves of rows to cheaper open classes.
_TRIES = 8192
# Cost of an attempt, in visited rows.
_EFFORT = 20


class Core(NamedTuple):
    """members: combinations of cells, from starts to ends (c,); costs (c,) of a row; holders: the cells of each
    combination, from places (n + 1,) on, the cheapest first."""

    members: Int32
    starts: Int64
    ends: Int64
    costs: Float64
    holders: Int32
    places: Int64


class Opened(NamedTuple):
    """owners, second (n,) slots: of the class, and of the next cheapest; after, before (n,) the neighbors in the class,
    or -1; more (n,) what a combination adds when it goes to the second. Of slots: cells, or -1; head, sizes, costs of a
    row, closing: what all rows add when they go. slots (c,) of open cells, -1 for others; free (s + 1,): how many slots
    are free, and these. For one cell that is tried: donors (s + 2,), how many and which slots; rows taken from each,
    what these add elsewhere (both 0 before); choices of what becomes of donors. went, whence (n,): who moved."""

    owners: Int32
    second: Int32
    after: Int32
    before: Int32
    more: Float64
    cells: Int64
    head: Int64
    sizes: Int64
    costs: Float64
    closing: Float64
    slots: Int32
    free: Int64
    donors: Int64
    taken: Int64
    spared: Float64
    choices: Int64
    went: Int64
    whence: Int64


@compiled
def next_open(core, opened, row):
    """Return the slot of the cheapest open cell that contains a combination, other than its own."""
    own = opened.owners[row]
    for at in range(core.places[row], core.places[row + 1]):
        slot = opened.slots[core.holders[at]]
        if slot > NOWHERE and slot != own:
            return slot
    return NOWHERE


@compiled
def set_second(opened, counts, row, slot):
    """Store the next cheapest class of a combination."""
    own = opened.owners[row]
    more = counts[row] * (opened.costs[slot] - opened.costs[own])
    opened.closing[own] += more - opened.more[row]
    opened.more[row], opened.second[row] = more, slot


@compiled
def put(core, opened, counts, row, slot):
    """Put a combination into a class."""
    link(opened, row, slot)
    opened.sizes[slot] += counts[row]
    opened.more[row] = 0.0
    set_second(opened, counts, row, next_open(core, opened, row))


@compiled
def pull(opened, counts, row):
    """Take a combination out of its class."""
    own = opened.owners[row]
    opened.sizes[own] -= counts[row]
    opened.closing[own] -= opened.more[row]
    unlink(opened, row)


@compiled
def open_cell(core, opened, counts, cell):
    """Open a cell in a free slot, without rows; it becomes the second choice of rows for which it is cheaper."""
    opened.free[0] -= 1
    slot = opened.free[opened.free[0] + 1]
    reopen(core, opened, counts, cell, slot)
    opened.sizes[slot], opened.closing[slot], opened.head[slot] = 0, 0.0, -1
    return slot


@compiled
def reopen(core, opened, counts, cell, slot):
    """Register a slot's cell as a possible destination of rows."""
    cost = core.costs[cell]
    opened.cells[slot], opened.costs[slot] = cell, cost
    opened.slots[cell] = slot
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        if cost < opened.costs[opened.second[row]] and opened.owners[row] != slot:
            set_second(opened, counts, row, slot)


@compiled
def shut(core, opened, counts, slot):
    """Close an empty cell; rows whose second choice it was find another one."""
    cell = opened.cells[slot]
    opened.slots[cell] = -1
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        if opened.second[row] == slot:
            set_second(opened, counts, row, next_open(core, opened, row))


@compiled
def release(opened, slot):
    """Mark a slot as free."""
    opened.cells[slot] = -1
    opened.free[opened.free[0] + 1] = slot
    opened.free[0] += 1


@compiled
def drawn(random, mask):
    """Return a random number from 0 to a bit mask, from an own generator: the same on every machine."""
    random[0] ^= random[0] << np.uint64(13)
    random[0] ^= random[0] >> np.uint64(7)
    random[0] ^= random[0] << np.uint64(17)
    return np.int64((random[0] >> np.uint64(11)) & np.uint64(mask))


@compiled
def look(core, opened, counts, cell):
    """Count what a cell could take from each class."""
    many = 0
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        own = opened.owners[row]
        # Without a branch, which would be unpredictable.
        opened.donors[many + 1] = own
        many += opened.taken[own] == 0
        opened.taken[own] += counts[row]
        opened.spared[own] += opened.more[row]
    opened.donors[0] = many


@compiled
def weigh(opened, cost, k, heat, chances, random):
    """Choose what happens to each donor of a cell; return the loss added by opening it, infinite if it is too small."""
    added, size, room = 0.0, 0, 0
    for at in range(1, opened.donors[0] + 1):
        slot = opened.donors[at]
        taken = opened.taken[slot]
        gain = opened.costs[slot] - cost
        spare = min(taken, opened.sizes[slot] - (k if slot else 0))
        choice, less = _KEEP, 0.0
        if gain > 0.0 and spare > 0:
            choice, less = _SPARE, -gain * spare
        if slot != NOWHERE:
            closed = opened.closing[slot] - opened.spared[slot] - gain * taken
            far = closed - less
            if far < -_LEAST or (far < 3.0 * heat and drawn(random, 1) and far < heat * chances[drawn(random, 1023)]):
                choice, less = _CLOSE, closed
        opened.choices[slot] = choice
        added += less
        if choice == _CLOSE:
            size += taken
        elif choice == _SPARE:
            size += spare
        else:
            room += max(spare, 0)
    if size >= k:
        return added
    return added + filled(opened, cost, k, k - size) if size + room >= k else np.inf


@compiled
def filled(opened, cost, k, need):
    """Return the loss added by taking rows that lose by it, from classes that can spare them."""
    added = 0.0
    while need > 0:
        best, dearest, spare = -1, -1.0, 0
        for at in range(1, opened.donors[0] + 1):
            slot = opened.donors[at]
            if opened.choices[slot] == _KEEP and opened.costs[slot] > dearest:
                own = min(opened.taken[slot], opened.sizes[slot] - k)
                if own > 0:
                    best, dearest, spare = slot, opened.costs[slot], own
        if best < 0:
            return np.inf
        opened.choices[best] = _FILL
        some = min(need, spare)
        added += some * (cost - dearest)
        need -= some
    return added


@compiled
def move(core, opened, counts, row, slot, moved):
    """Move a combination, and record its origin."""
    opened.went[moved], opened.whence[moved] = row, opened.owners[row]
    pull(opened, counts, row)
    put(core, opened, counts, row, slot)
    return moved + 1


@compiled
def take_rows(core, opened, counts, cell, slot, k):
    """Move rows into a newly opened cell as chosen; return how many combinations moved."""
    moved = 0
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        own = opened.owners[row]
        choice = opened.choices[own]
        spares = opened.sizes[own] - counts[row] >= (k if own else 0)
        if choice == _CLOSE or (choice == _SPARE and spares):
            moved = move(core, opened, counts, row, slot, moved)
    for at in range(core.starts[cell], core.ends[cell]):
        if opened.sizes[slot] >= k:
            break
        row = core.members[at]
        own = opened.owners[row]
        if own != slot and opened.choices[own] == _FILL and opened.sizes[own] - counts[row] >= k:
            moved = move(core, opened, counts, row, slot, moved)
    return moved


@compiled
def empty_donors(core, opened, counts, moved):
    """Close the chosen donors: their remaining rows go to the next cheapest class; return how many moved."""
    for at in range(1, opened.donors[0] + 1):
        slot = opened.donors[at]
        if opened.choices[slot] == _CLOSE:
            opened.slots[opened.cells[slot]] = -1
    for at in range(1, opened.donors[0] + 1):
        slot = opened.donors[at]
        if opened.choices[slot] == _CLOSE:
            while opened.head[slot] >= 0:
                row = opened.head[slot]
                moved = move(core, opened, counts, row, next_open(core, opened, row), moved)
            shut(core, opened, counts, slot)
    return moved


@compiled
def balance(opened, moved, counts):
    """Return the loss added by the recorded moves."""
    added = 0.0
    for at in range(moved):
        row = opened.went[at]
        added += counts[row] * (opened.costs[opened.owners[row]] - opened.costs[opened.whence[at]])
    return added


@compiled
def try_cell(core, opened, counts, cell, k, heat, chances, random):
    """Open a cell, and close what it leaves too small, if the added loss is accepted."""
    look(core, opened, counts, cell)
    allowed = heat * chances[drawn(random, 1023)] - _LEAST
    opened.choices[NOWHERE] = _KEEP
    if opened.free[0] > 0 and weigh(opened, core.costs[cell], k, heat, chances, random) <= allowed:
        slot = open_cell(core, opened, counts, cell)
        opened.choices[slot] = _KEEP
        moved = take_rows(core, opened, counts, cell, slot, k)
        moved = empty_donors(core, opened, counts, moved)
        if opened.sizes[slot] < k or balance(opened, moved, counts) > allowed:
            undo(core, opened, counts, slot, moved)
        else:
            for at in range(1, opened.donors[0] + 1):
                if opened.choices[opened.donors[at]] == _CLOSE:
                    release(opened, opened.donors[at])
    for at in range(1, opened.donors[0] + 1):
        opened.taken[opened.donors[at]], opened.spared[opened.donors[at]] = 0, 0.0


@compiled
def undo(core, opened, counts, slot, moved):
    """Undo the opening of a cell."""
    for at in range(1, opened.donors[0] + 1):
        donor = opened.donors[at]
        if opened.choices[donor] == _CLOSE:
            reopen(core, opened, counts, opened.cells[donor], donor)
    for at in range(moved - 1, -1, -1):
        row = opened.went[at]
        pull(opened, counts, row)
        put(core, opened, counts, row, opened.whence[at])
    shut(core, opened, counts, slot)
    release(opened, slot)


@compiled
def try_closing(core, opened, counts, slot, allowed):
    """Close a class, if the added loss is at most the allowed one."""
    if opened.closing[slot] > allowed:
        return
    opened.slots[opened.cells[slot]] = -1
    while opened.head[slot] >= 0:
        row = opened.head[slot]
        other = opened.second[row]
        pull(opened, counts, row)
        put(core, opened, counts, row, other)
    shut(core, opened, counts, slot)
    release(opened, slot)


@compiled
def settle_rows(core, opened, counts, k):
    """Move rows that their class can spare to a cheaper open one."""
    for row in range(len(counts)):
        own, other = opened.owners[row], opened.second[row]
        if opened.more[row] < -_LEAST and (own == NOWHERE or opened.sizes[own] - counts[row] >= k):
            pull(opened, counts, row)
            put(core, opened, counts, row, other)


@compiled
def anneal(
    core: Core, opened: Opened, counts: Int32, k: int, heats: Float64, chances: Float64, work: int, random: UInt64,
    stop: Int64,
):  # fmt: skip
    """Open and close randomly drawn cells with falling temperature, until the work limit is reached.

    Args:
        heats: The temperatures, each for the same amount of work.
        chances: (1024,) random thresholds of the loss a move may add, in units of the temperature.
        work: How many rows of cells are visited.
    """
    cells, done, tries = len(core.costs), 0, 0
    mask = 1
    while mask < cells:
        mask *= 2
    heat = heats[0]
    while done < work:
        tries += 1
        if tries % _TRIES == 0:
            if stop[0]:
                return
            settle_rows(core, opened, counts, k)
            heat = heats[done * len(heats) // work]
            done += len(counts)
        cell = drawn(random, mask - 1)
        if cell >= cells:
            continue
        slot = opened.slots[cell]
        done += _EFFORT
        if slot >= 0:
            try_closing(core, opened, counts, slot, heat * chances[drawn(random, 1023)] - _LEAST)
        else:
            done += core.ends[cell] - core.starts[cell]
            try_cell(core, opened, counts, cell, k, heat, chances, random)
    settle_rows(core, opened, counts, k)
