"""Compiled loops that improve the classes of a local recoding by moving rows and dissolving poor classes.

Shapes: n combinations of m columns in c classes; `prices` as in kernels.py.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.local_recoding.kernels import LabelCosts
from sfumato.native.array_types import Float64, Int32_2, Int64, Int64_2
from sfumato.native.dispatch import compiled

_LEAST = 1e-9


class Groups(NamedTuple):
    """owners (n,), -1 for none; after, before (n,) the neighbors of a combination in its class, or -1; head (c,) the
    first of a class, or -1; sizes (c,); levels (c, m); costs (c,) of a row; work (1,) is counted down."""

    owners: Int64
    after: Int64
    before: Int64
    head: Int64
    sizes: Int64
    levels: Int64_2
    costs: Float64
    work: Int64


@compiled
def link(groups, row, group):
    """Put a combination into a class."""
    groups.owners[row] = group
    groups.before[row], groups.after[row] = -1, groups.head[group]
    if groups.head[group] >= 0:
        groups.before[groups.head[group]] = row
    groups.head[group] = row


@compiled
def unlink(groups, row):
    """Take a combination out of its class."""
    before, after = groups.before[row], groups.after[row]
    if before >= 0:
        groups.after[before] = after
    else:
        groups.head[groups.owners[row]] = after
    if after >= 0:
        groups.before[after] = before
    groups.owners[row] = -1


@compiled
def meet(prices, column, level, one, other):
    """Return the lowest level, from a given one on, at which two values have one label."""
    while prices.labels[column, level, one] != prices.labels[column, level, other]:
        level += 1
    return level


@compiled
def cost_without(codes, groups, prices, group, row, lowest, levels):
    """Return the loss of a row in a class without one combination (-1: with all); `levels` receives its levels."""
    first, cost = -1, 0.0
    levels[:] = lowest
    member = groups.head[group]
    while member >= 0:
        if member != row:
            if first < 0:
                first = member
            for column in range(len(levels)):
                levels[column] = meet(prices, column, levels[column], codes[first, column], codes[member, column])
        member = groups.after[member]
    if first >= 0:
        for column in range(len(levels)):
            cost += prices.costs[column, levels[column], codes[first, column]]
    return cost


@compiled
def settle(codes, counts, groups, prices, group, lowest, levels):
    """Recompute the levels, cost and size of a class."""
    groups.costs[group] = cost_without(codes, groups, prices, group, -1, lowest, levels)
    groups.levels[group] = levels
    size = 0
    member = groups.head[group]
    while member >= 0:
        size += counts[member]
        member = groups.after[member]
    groups.sizes[group] = size


@compiled
def best_group(codes, counts, groups, prices, order, row, but, limit, highest):
    """Return the class in which a combination adds least, below a limit, and the added loss; -1 if there is none.

    Args:
        order: (c,) the classes, the cheapest first; but: one that is left out.
    """
    best, count, looked = -1, counts[row], 0
    for group in order:
        looked += 1
        base = count * groups.costs[group]
        if base >= limit:
            break
        if group == but or groups.head[group] < 0:
            continue
        mine, size = codes[groups.head[group]], groups.sizes[group] + count
        added = base
        for column in range(len(highest)):
            level = groups.levels[group, column]
            code = codes[row, column]
            if prices.labels[column, level, code] != prices.labels[column, level, mine[column]]:
                higher = meet(prices, column, level, code, mine[column])
                more = prices.costs[column, higher, code] - prices.costs[column, level, mine[column]]
                added += size * more if higher <= highest[column] else np.inf
                if added >= limit:
                    break
        if added < limit - _LEAST:
            best, limit = group, added
    groups.work[0] -= looked
    return best, limit


@compiled
def gather(codes: Int32_2, counts: Int64, groups: Groups, prices: LabelCosts, lowest: Int64):
    """Link the combinations of each class, and compute its levels, cost and size."""
    levels = np.empty(len(lowest), np.int64)
    for row in range(len(counts)):
        if groups.owners[row] >= 0:
            link(groups, row, groups.owners[row])
    for group in range(len(groups.head)):
        settle(codes, counts, groups, prices, group, lowest, levels)


@compiled
def place_rows(
    codes: Int32_2, counts: Int64, groups: Groups, prices: LabelCosts, order: Int64, rows: Int64, lowest: Int64,
    highest: Int64, stop: Int64,
):  # fmt: skip
    """Put unassigned combinations where they add least."""
    levels = np.empty(len(lowest), np.int64)
    for row in rows:
        if stop[0] or groups.work[0] <= 0:
            return
        best, _ = best_group(codes, counts, groups, prices, order, row, -1, np.inf, highest)
        if best >= 0:
            link(groups, row, best)
            settle(codes, counts, groups, prices, best, lowest, levels)


@compiled
def move_rows(
    codes: Int32_2, counts: Int64, groups: Groups, prices: LabelCosts, order: Int64, least: Float64, k: int,
    lowest: Int64, highest: Int64, stop: Int64,
):  # fmt: skip
    """Move combinations that a class can spare to others where they add less than they cost their own.

    Args:
        least: (n,) lower bound of the loss of a row of each combination.

    Returns:
        How many moved.
    """
    moved = 0
    levels = np.empty(len(lowest), np.int64)
    for row in range(len(counts)):
        group = groups.owners[row]
        rest = groups.sizes[group] - counts[row]
        if group < 0 or rest < k:
            continue
        if stop[0] or groups.work[0] <= 0:
            return moved
        without = cost_without(codes, groups, prices, group, row, lowest, levels)
        groups.work[0] -= groups.sizes[group]
        gain = groups.sizes[group] * groups.costs[group] - rest * without
        if gain <= counts[row] * least[row] + _LEAST:
            continue
        best, _ = best_group(codes, counts, groups, prices, order, row, group, gain - _LEAST, highest)
        if best >= 0:
            unlink(groups, row)
            link(groups, row, best)
            settle(codes, counts, groups, prices, group, lowest, levels)
            settle(codes, counts, groups, prices, best, lowest, levels)
            moved += 1
    return moved


@compiled
def dissolve(
    codes: Int32_2, counts: Int64, groups: Groups, prices: LabelCosts, order: Int64, least: Float64, lowest: Int64,
    highest: Int64, stop: Int64,
):  # fmt: skip
    """Dissolve classes, the most expensive first, whose rows add less to others than they lose.

    Returns:
        How many were dissolved.
    """
    done = 0
    levels = np.empty(len(lowest), np.int64)
    members, went = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64)
    for place in range(len(order) - 1, -1, -1):
        group = order[place]
        if stop[0] or groups.work[0] <= 0:
            return done
        many, rest = 0, 0.0
        member = groups.head[group]
        while member >= 0:
            members[many] = member
            rest += counts[member] * least[member]
            many += 1
            member = groups.after[member]
        # Lower bound of what this and the following columns may still add.
        room = groups.sizes[group] * groups.costs[group] - rest - _LEAST
        at = 0
        while at < many and room > 0.0:
            row = members[at]
            own = counts[row] * least[row]
            best, added = best_group(codes, counts, groups, prices, order, row, group, room + own, highest)
            if best < 0:
                break
            room -= added - own
            unlink(groups, row)
            link(groups, row, best)
            settle(codes, counts, groups, prices, best, lowest, levels)
            went[at] = best
            at += 1
        if at == many and many > 0:
            done += 1
        else:
            for back in range(at - 1, -1, -1):
                unlink(groups, members[back])
                link(groups, members[back], group)
                settle(codes, counts, groups, prices, went[back], lowest, levels)
        settle(codes, counts, groups, prices, group, lowest, levels)
    return done


@compiled
def joint_cost(codes, one, other, levels, highest, prices, joint):
    """Return the loss of a row of a class after a combination joins it; `joint` receives the levels; -1 if impossible.

    Shapes: n combinations of m columns; `prices` as in kernels.py. A block holds combinations that are near each other.

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
