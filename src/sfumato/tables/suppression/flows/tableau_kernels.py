"""Compiled loops: move a cell by its protection level, with other cells moving so that every relation holds.

Some cells are free; `rates` (bound by free) says how much each of the others, the bound ones, moves with them.
"""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Float64_2, Int64
from sfumato.native.dispatch import compiled

# Rates below this are none; what is nearer to its limit than this has reached it.
_NOTHING = 1e-9
# So many steps without any movement, and cells are chosen by their order: then no state comes twice.
_STANDSTILL = 20


@compiled
def _exchange(rates, bound, free, row, column):
    """Make a bound cell free, and a free one bound."""
    turn = 1.0 / rates[row, column]
    for other in range(len(free)):
        rates[row, other] *= -turn
    rates[row, column] = turn
    for other in range(len(bound)):
        factor = rates[other, column]
        if other == row or factor == 0.0:
            continue
        rates[other, column] = 0.0
        for place in range(len(free)):
            rate = rates[other, place] + factor * rates[row, place]
            rates[other, place] = rate if abs(rate) > 1e-12 else 0.0
    bound[row], free[column] = free[column], bound[row]


@compiled
def _price(rates, bound, free, prices, column):
    """What it costs to move a free cell by one, with all that moves with it."""
    price = prices[free[column]]
    for row in range(len(bound)):
        price += prices[bound[row]] * abs(rates[row, column])
    return price


@compiled
def _entering(rates, bound, free, down, up, prices, flow, mine, sign, still):
    """The free cell whose movement moves the wanted one at the least price; the first by number at a standstill."""
    chosen, least = -1, np.inf
    for column in range(len(free)):
        cell, rate = free[column], rates[mine, column] * sign
        if abs(rate) <= _NOTHING:
            continue
        room = up[cell] - flow[cell] if rate > 0.0 else flow[cell] + down[cell]
        if room <= _NOTHING:
            continue
        price = float(cell) if still else _price(rates, bound, free, prices, column) / abs(rate)
        if price < least:
            chosen, least = column, price
    return chosen


@compiled
def _step(rates, bound, free, down, up, flow, column, way, longest, mine, still):
    """Move a free cell one way as far as all others can; the row of the one that cannot any further, or -1."""
    row, farthest, size = -1, longest, 0.0
    for other in range(len(bound)):
        rate = rates[other, column] * way
        if other == mine or abs(rate) <= _NOTHING:
            continue
        cell = bound[other]
        room = up[cell] - flow[cell] if rate > 0.0 else flow[cell] + down[cell]
        far = max(room, 0.0) / abs(rate)
        if row >= 0 and abs(far - farthest) <= 1e-12:
            better = cell < bound[row] if still else abs(rate) > size
        else:
            better = far < farthest
        if better:
            row, farthest, size = other, min(far, farthest), abs(rate)
    for other in range(len(bound)):
        flow[bound[other]] += rates[other, column] * way * farthest
    flow[free[column]] += way * farthest
    if row >= 0:
        cell = bound[row]
        flow[cell] = up[cell] if rates[row, column] * way > 0.0 else -down[cell]
    return row, farthest


@compiled
def release(rates: Float64_2, bound: Int64, free: Int64, closed: Bool, cell: int):
    """Make a cell free, where that changes anything: in place of a free one that is not closed and moves it most."""
    row = -1
    for place in range(len(bound)):
        if bound[place] == cell:
            row = place
    if row < 0:
        return
    column, most = -1, _NOTHING
    for place in range(len(free)):
        if not closed[free[place]] and abs(rates[row, place]) > most:
            column, most = place, abs(rates[row, place])
    if column >= 0:
        _exchange(rates, bound, free, row, column)


@compiled
def any_stuck(rates: Float64_2, bound: Int64, free: Int64, closed: Bool, wanted: Bool):
    """Whether a wanted cell cannot move at all, since nothing moves it but closed cells that are free."""
    for row in range(len(bound)):
        moves = not wanted[bound[row]]
        for column in range(len(free)):
            if moves:
                break
            moves = not closed[free[column]] and abs(rates[row, column]) > _NOTHING
        if not moves:
            return True
    return False


@compiled
def push(
    rates: Float64_2,
    bound: Int64,
    free: Int64,
    down: Float64,
    up: Float64,
    prices: Float64,
    own: int,
    amount: float,
    flow: Float64,
):
    """Move a cell by an amount, or as far as it can; the answer is how far, or -1 where that was not found out.

    Steps of the simplex method, from no movement on. The cell itself has all the room that it asks for.

    Args:
        rates: (bound, free) changed in place, as are `bound` and `free`, the numbers of the cells.
        down: (cells,) how far below a cell may go; up: above.
        prices: (cells,) what moving a cell by one costs: ways that cost less are gone first.
        own: The cell; amount: negative to move it down.
        flow: (cells,) zeros, and the movements in the end.
    """
    sign, goal = (1.0 if amount > 0.0 else -1.0), abs(amount)
    mine = -1
    for row in range(len(bound)):
        if bound[row] == own:
            mine = row
    if mine < 0:
        column = 0
        while free[column] != own:
            column += 1
        row, _ = _step(rates, bound, free, down, up, flow, column, sign, goal, -1, False)
        if row < 0:
            return goal
        _exchange(rates, bound, free, row, column)
        mine = row
    standing = 0
    for _ in range(50 * (len(bound) + len(free)) + 1000):
        still = standing > _STANDSTILL
        column = _entering(rates, bound, free, down, up, prices, flow, mine, sign, still)
        if column < 0:
            return flow[own] * sign
        rate = rates[mine, column] * sign
        cell, way = free[column], (1.0 if rate > 0.0 else -1.0)
        room = up[cell] - flow[cell] if rate > 0.0 else flow[cell] + down[cell]
        left = (goal - flow[own] * sign) / abs(rate)
        row, farthest = _step(rates, bound, free, down, up, flow, column, way, min(room, left), mine, still)
        if row >= 0:
            _exchange(rates, bound, free, row, column)
        elif left <= room:
            return goal
        else:
            flow[cell] = up[cell] if rate > 0.0 else -down[cell]
        standing = standing + 1 if farthest <= 1e-12 else 0
    return -1.0
