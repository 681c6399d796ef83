"""Compiled loops of suppression: cheapest paths, simplex steps, and even sums of integer rows."""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Float64_2, Int64, UInt64_2
from sfumato.native.dispatch import compiled


@compiled
def _sift_up(costs, nodes, place):
    while place > 0:
        parent = (place - 1) // 2
        if costs[parent] <= costs[place]:
            break
        costs[parent], costs[place] = costs[place], costs[parent]
        nodes[parent], nodes[place] = nodes[place], nodes[parent]
        place = parent


@compiled
def _sift_down(costs, nodes, size):
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and costs[child + 1] < costs[child]:
            child += 1
        if costs[place] <= costs[child]:
            break
        costs[child], costs[place] = costs[place], costs[child]
        nodes[child], nodes[place] = nodes[place], nodes[child]
        place = child


@compiled
def _path_back(cells, plus, via, before, start, goal):
    """The cells from the start to the goal and their signs; none where the goal was not reached."""
    length = 0
    node = goal
    while node != start and before[node] >= 0:
        length += 1
        node = before[node]
    if node != start:
        return np.empty(0, np.int64), np.empty(0)
    path, signs = np.empty(length, np.int64), np.empty(length)
    node = goal
    for place in range(length):
        path[place] = cells[via[node]]
        signs[place] = -1.0 if plus[via[node]] else 1.0
        node = before[node]
    return path, signs


@compiled
def _with_room(costs, nodes, size):
    """The heap with room for one more node."""
    if size < len(costs):
        return costs, nodes
    more_costs, more_nodes = np.empty(2 * size), np.empty(2 * size, np.int64)
    more_costs[:size], more_nodes[:size] = costs, nodes
    return more_costs, more_nodes


@compiled
def cheapest_path(
    starts: Int64,
    cells: Int64,
    others: Int64,
    plus: Bool,
    prices: Float64,
    up: Float64,
    down: Float64,
    need: float,
    own: int,
    start: int,
    goal: int,
):
    """The cheapest path from one relation to another whose cells all have room for the need.

    Args:
        starts: (n + 1) where each node's edges begin; cells, others, plus: (m) the cell of an edge, the node at its
            other end, and whether the cell counts positively at this one.
        prices, up, down: (cells) what a cell costs, infinite where it is published, and its room.
        need, own: what must flow, and the cell that it is for; start, goal: nodes.

    Returns:
        The cells of the path and their signs; none where there is no path.
    """
    count = len(starts) - 1
    cost = np.full(count, np.inf)
    done = np.zeros(count, np.bool_)
    via = np.full(count, -1, np.int64)
    before = np.full(count, -1, np.int64)
    heap_costs, heap_nodes = np.empty(1024), np.empty(1024, np.int64)
    cost[start], heap_costs[0], heap_nodes[0], size = 0.0, 0.0, start, 1
    while size:
        node = heap_nodes[0]
        size -= 1
        heap_costs[0], heap_nodes[0] = heap_costs[size], heap_nodes[size]
        _sift_down(heap_costs, heap_nodes, size)
        if done[node]:
            continue
        if node == goal:
            break
        done[node] = True
        for edge in range(starts[node], starts[node + 1]):
            cell, other = cells[edge], others[edge]
            if done[other] or cell == own:
                continue
            reached = cost[node] + prices[cell]
            if reached >= cost[other] or reached >= cost[goal]:
                continue
            if (down[cell] if plus[edge] else up[cell]) < need:
                continue
            cost[other], via[other], before[other] = reached, edge, node
            heap_costs, heap_nodes = _with_room(heap_costs, heap_nodes, size)
            heap_costs[size], heap_nodes[size] = reached, other
            _sift_up(heap_costs, heap_nodes, size)
            size += 1
    return _path_back(cells, plus, via, before, start, goal)


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


# Some cells are free; `rates` (bound by free) says how much each of the others, the bound ones, moves with them.
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
