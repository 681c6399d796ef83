"""Compiled loops that build classes from a few neighbors each, for lattices too large to enumerate.

Shapes: n combinations of m columns; `prices` as in kernels.py. A block holds combinations that are near each other.
"""

import numpy as np

from sfumato.microdata.methods.local_recoding.kernels import LabelCosts
from sfumato.native.array_types import Int32_2, Int64
from sfumato.native.dispatch import compiled


@compiled
def joint_cost(codes, one, other, levels, highest, prices, joint):
    """Return the loss of a row of a class after a combination joins it; `joint` receives the levels; -1 if impossible.

    Args:
        one: A combination of the class; levels: (m,) its levels; highest: (m,) the highest that are allowed.
    """
    cost = 0.0
    for column in range(len(levels)):
        mine, its = codes[one, column], codes[other, column]
        level = levels[column]
        while prices.labels[column, level, mine] != prices.labels[column, level, its]:
            level += 1
        if level > highest[column]:
            return -1.0
        joint[column] = level
        cost += prices.costs[column, level, mine]
    return cost


@compiled
def _rows_of(counts, places):
    """Return the number of rows of some combinations."""
    total = 0
    for place in places:
        total += counts[place]
    return total


@compiled
def cluster_block(
    codes: Int32_2,
    counts: Int64,
    rows: Int64,
    k: int,
    lowest: Int64,
    highest: Int64,
    prices: LabelCosts,
    owners: Int64,
    number: int,
    stop: Int64,
):
    """Make classes of at least k rows out of a block: each begins with the first combination left, and the one joins
    that adds least to the loss, until it has k rows; the last few join the class where they add least.

    Args:
        rows: (b,) the combinations of the block; lowest, highest: (m,) the levels that are allowed.
        owners: (n,) receives the class of each, from `number` on; -1 where a combination fits nowhere.
        stop: (1,) a flag; once it is up, the block becomes one class.

    Returns:
        The number after the last class.
    """
    size, columns, begin = len(rows), len(lowest), number
    left = rows.copy()
    seeds, sizes = np.empty(size, np.int64), np.empty(size, np.int64)
    levels, costs = np.empty((size, columns), np.int64), np.empty(size)
    joint = np.empty(columns, np.int64)
    total = _rows_of(counts, rows)
    while size and total >= k and not stop[0]:
        at = number - begin
        seed = left[0]
        left[0] = left[size - 1]
        size -= 1
        seeds[at], sizes[at] = seed, counts[seed]
        levels[at] = lowest
        costs[at] = joint_cost(codes, seed, seed, lowest, highest, prices, joint)
        owners[seed] = number
        total -= counts[seed]
        while sizes[at] < k:
            joined = (seed, sizes[at], levels[at], costs[at])
            best = nearest_left(codes, counts, left[:size], *joined, highest, prices)
            if best < 0:
                break
            other = left[best]
            costs[at] = joint_cost(codes, seed, other, levels[at], highest, prices, joint)
            levels[at] = joint
            sizes[at] += counts[other]
            total -= counts[other]
            owners[other] = number
            left[best] = left[size - 1]
            size -= 1
        if sizes[at] < k:
            break
        number += 1
    return place_rest(codes, counts, rows, highest, prices, owners, number, seeds, sizes, levels, costs, begin)


@compiled
def nearest_left(codes, counts, left, seed, rows, levels, cost, highest, prices):
    """Return which of the remaining combinations adds least loss to a class; -1 if none may join."""
    joint = np.empty(len(levels), np.int64)
    best, least = -1, np.inf
    for place in range(len(left)):
        joined = joint_cost(codes, seed, left[place], levels, highest, prices, joint)
        if joined < 0.0:
            continue
        added = (rows + counts[left[place]]) * joined - rows * cost
        if added < least:
            best, least = place, added
    return best


@compiled
def place_rest(codes, counts, rows, highest, prices, owners, number, seeds, sizes, levels, costs, begin):
    """Assign the remaining combinations of a block to the class where they add least; without any, make one class."""
    joint = np.empty(len(highest), np.int64)
    if number == begin:
        for row in rows:
            owners[row] = begin
        return begin + 1
    for row in rows:
        if begin <= owners[row] < number:
            continue
        best, least = -1, np.inf
        for at in range(number - begin):
            joined = joint_cost(codes, seeds[at], row, levels[at], highest, prices, joint)
            added = (sizes[at] + counts[row]) * joined - sizes[at] * costs[at]
            if joined >= 0.0 and added < least:
                best, least = at, added
        owners[row] = -1
        if best >= 0:
            costs[best] = joint_cost(codes, seeds[best], row, levels[best], highest, prices, joint)
            levels[best] = joint
            sizes[best] += counts[row]
            owners[row] = begin + best
    return number
