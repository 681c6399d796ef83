"""Compiled loops that list the candidate classes (cells) and make a first recoding of them.

Shapes: n combinations in c cells; `rows`, `stack`, `prices` as in kernels.py.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.local_recoding.annealing_kernels import NOWHERE, Core, Opened, open_cell, pull, put
from sfumato.microdata.methods.local_recoding.candidate_class_kernels import (
    Rows,
    Stack,
    last_cell,
    next_cell,
    start_walk,
)
from sfumato.microdata.methods.local_recoding.kernels import LabelCosts, alike
from sfumato.native.array_types import Float64, Int32, Int32_2, Int32_3, Int64, Int64_3
from sfumato.native.dispatch import compiled


class CandidateBuffers(NamedTuple):
    """Room for cells: members, those of one after those of another; starts (c + 1,); costs (c,) of a row; ratios (c,)
    of what k rows lose to what the k dearest are worth."""

    members: Int32
    starts: Int64
    costs: Float64
    ratios: Float64


@compiled
def thinned(found, many):
    """Drop the half of the cells with the highest ratios; return how many remain, and their highest ratio."""
    limit = np.sort(found.ratios[:many])[many // 2]
    kept = total = 0
    for cell in range(many):
        if found.ratios[cell] < limit:
            start, size = found.starts[cell], found.starts[cell + 1] - found.starts[cell]
            for at in range(size):
                found.members[total + at] = found.members[start + at]
            found.costs[kept], found.ratios[kept] = found.costs[cell], found.ratios[cell]
            kept += 1
            total += size
            found.starts[kept] = total
    return kept, limit


@compiled
def collect(
    rows: Rows, stack: Stack, prices: LabelCosts, whole: Int32, lowest: Int64, highest: Int64, k: int, owners: Int64,
    factors: Float64, limit: float, widest: int, most: int, found: CandidateBuffers, stop: Int64,
):  # fmt: skip
    """List the cells with a ratio at most a limit; if the buffer is full, the limit is lowered.

    Args:
        widest: Maximum number of combinations of a cell; most: rows listed of it by decreasing price, and those
            with a price of at least their loss in it.

    Returns:
        How many cells there are.
    """
    start_walk(rows, stack, prices, whole, lowest, highest, k, owners, limit)
    many = 0
    found.starts[0] = 0
    while True:
        ratio = next_cell(rows, stack, prices, lowest, highest, k, owners, factors, limit, stop)
        if ratio < 0.0:
            return many
        members, cost = last_cell(stack), stack.cost[len(lowest)]
        if len(members) > widest:
            continue
        number = _dearest_number(rows, members, cost, most)
        while many and (many == len(found.costs) or found.starts[many] + number > len(found.members)):
            many, limit = thinned(found, many)
        if ratio >= limit and many == 0:
            continue
        begin = found.starts[many]
        for at in range(number):
            found.members[begin + at] = members[at]
        found.costs[many], found.ratios[many] = cost, ratio
        many += 1
        found.starts[many] = begin + number


@compiled
def _dearest_number(rows, members, cost, most):
    """Return how many of a cell's rows are listed."""
    for at in range(len(members)):
        row = members[at]
        most -= rows.counts[row]
        if most <= 0 and rows.worth[row] < cost:
            return at + 1
    return len(members)


@compiled
def cells_of_rows(members: Int32, starts: Int64, order: Int64, places: Int64, holders: Int32):
    """List for each combination the cells that contain it, in a given order of cells, into `holders`.

    Args:
        order: (c,) the cells; from here on they are numbered by it.
        places: (n + 1,) receives where the cells of each combination begin.
    """
    for row in members:
        places[row + 1] += 1
    for row in range(len(places) - 1):
        places[row + 1] += places[row]
    at = places.copy()
    for number in range(len(order)):
        cell = order[number]
        for place in range(starts[cell], starts[cell + 1]):
            row = members[place]
            holders[at[row]] = number
            at[row] += 1


@compiled
def open_dearest(
    core: Core, opened: Opened, counts: Int32, worth: Float64, ratios: Float64, order: Int64, limits: Float64, k: int
):
    """Open cells whose ratio for unassigned rows is at most a limit, then the next limit, in order.

    Args:
        worth: (n,) the price of a row; members of cells are sorted by decreasing price.
        ratios: (c,) of all rows, raised to those of the rows left; order: (c,) the cells, the lowest ratio first.
    """
    left = order.copy()
    many = len(left)
    for limit in limits:
        kept = 0
        for place in range(many):
            cell = left[place]
            if ratios[cell] <= limit:
                value = _worth_left(core, opened, counts, worth, cell, k)
                if value < 0.0:
                    continue
                cost = core.costs[cell]
                ratios[cell] = k * cost / value if value > 0.0 else (np.inf if cost > 0.0 else 0.0)
                if ratios[cell] <= limit:
                    _take_dearest(core, opened, counts, worth, cell, k)
                    continue
            left[kept] = cell
            kept += 1
        many = kept


@compiled
def _worth_left(core, opened, counts, worth, cell, k):
    """Return the sum of the k largest prices of a cell's unassigned rows; -1 if there are fewer."""
    left, total = k, 0.0
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        if opened.owners[row] == NOWHERE:
            some = min(left, counts[row])
            total += some * worth[row]
            left -= some
            if left == 0:
                return total
    return -1.0


@compiled
def _take_dearest(core, opened, counts, worth, cell, k):
    """Open a cell for its rows with the highest prices: k, and those with a price of at least their loss."""
    slot = open_cell(core, opened, counts, cell)
    for at in range(core.starts[cell], core.ends[cell]):
        row = core.members[at]
        if opened.owners[row] == NOWHERE and (opened.sizes[slot] < k or worth[row] >= core.costs[cell]):
            pull(opened, counts, row)
            put(core, opened, counts, row, slot)


@compiled
def open_classes(core: Core, opened: Opened, counts: Int32, cells: Int64, owners: Int64):
    """Open cells for existing classes, if no cell is open.

    Args:
        cells: The cell of each class; owners: (n,) the class of each combination, or -1.
    """
    for cell in cells:
        open_cell(core, opened, counts, cell)
    for row in range(len(owners)):
        if owners[row] >= 0:
            pull(opened, counts, row)
            put(core, opened, counts, row, opened.slots[cells[owners[row]]])


@compiled
def list_labels(codes: Int32_2, prices: LabelCosts, order: Int32, listed: Int32_3, begins: Int64_3):
    """List the combinations by their label, for each column and level.

    Args:
        order: (n,) the order of the combinations within each label.
        listed: (m, levels, n) receives them; begins: (m, levels, labels + 2), zeros, where those of each label begin.
    """
    for column in range(len(listed)):
        for level in range(len(listed[column])):
            labels, begin = prices.labels[column, level], begins[column, level]
            for row in order:
                begin[labels[codes[row, column]] + 2] += 1
            for label in range(2, len(begin)):
                begin[label] += begin[label - 1]
            for row in order:
                label = labels[codes[row, column]] + 1
                listed[column, level, begin[label]] = row
                begin[label] += 1


@compiled
def cells_of_classes(
    codes: Int32_2, prices: LabelCosts, levels: Int32_2, firsts: Int64, listed: Int32_3, begins: Int64_3,
    members: Int32, starts: Int64,
):  # fmt: skip
    """List the cells of classes within the buffer; the rarest label of each is scanned.

    Args:
        levels: (classes, m); firsts: (classes,) a combination of each; listed, begins: of `list_labels`.
        members: Receives the members; starts: (classes + 1,) where each cell begins.

    Returns:
        How many members all cells have, also where that is more than there is room for.
    """
    total = 0
    for group in range(len(firsts)):
        starts[group] = total
        first, rarest, begin, end = firsts[group], 0, 0, len(codes) + 1
        for column in range(len(listed)):
            level = levels[group, column]
            label = prices.labels[column, level, codes[first, column]]
            if begins[column, level, label + 1] - begins[column, level, label] < end - begin:
                rarest, begin, end = column, begins[column, level, label], begins[column, level, label + 1]
        for at in range(begin, end):
            row = listed[rarest, levels[group, rarest], at]
            if alike(codes, row, first, levels[group], prices):
                if total < len(members):
                    members[total] = row
                total += 1
    starts[len(firsts)] = total
    return total


# Cells with a ratio below this take part until the list is recomputed.
_NEAR = 1.1
# Members are nearly sorted: a cell's true ratio may be lower by this factor.
_UNSURE = 1.15
# Share of a step in the direction of the last one.
_KEPT = 0.3
# Number of steps between sorting the members of cells.
_SORTED = 3


@compiled
def sort_members(found, worth, cell):
    """Sort the members of a cell by decreasing price.

    In some cells the prices of the rows exceed their loss. Rows in several such cells have prices that are too high,
    rows in none have prices that are too low. Prices are changed accordingly by shorter and shorter steps, each partly
    in the direction of the last one (Held, M., Wolfe, P., Crowder, H. P. (1974). Validation of subgradient
    optimization, https://doi.org/10.1007/BF01580223).

    Shapes: n combinations in c cells, as in kernels.py.
    """
    members, start = found.members, found.starts[cell]
    for place in range(start + 1, found.starts[cell + 1]):
        row = members[place]
        price, at = worth[row], place
        while at > start and worth[members[at - 1]] < price:
            members[at] = members[at - 1]
            at -= 1
        members[at] = row


@compiled
def ratio_of(found, counts, worth, cell, k):
    """Return the loss of k rows in a cell, divided by the prices of the first k."""
    left, value = k, 0.0
    for at in range(found.starts[cell], found.starts[cell + 1]):
        row = found.members[at]
        some = min(left, counts[row])
        value += some * worth[row]
        left -= some
        if left == 0:
            break
    return k * found.costs[cell] / value if value > 0.0 else np.inf


@compiled
def near_cells(found, counts, worth, k, near):
    """List the cells with a low ratio; return how many."""
    many = 0
    for cell in range(len(found.costs)):
        if ratio_of(found, counts, worth, cell, k) < _NEAR * _UNSURE:
            sort_members(found, worth, cell)
            if ratio_of(found, counts, worth, cell, k) < _NEAR:
                near[many] = cell
                many += 1
    return many


@compiled
def cover(found, counts, worth, cell, k, left):
    """Return by how much the prices of a cell's best rows exceed their loss; these rows are taken from those left."""
    cost, lack, surplus, end = found.costs[cell], k, 0.0, found.starts[cell]
    while end < found.starts[cell + 1]:
        row = found.members[end]
        over = worth[row] - cost
        if over <= 0.0 and lack <= 0:
            break
        some = counts[row] if over > 0.0 else min(lack, counts[row])
        surplus += some * over
        lack -= some
        end += 1
    if surplus <= 0.0 or lack > 0:
        return 0.0
    lack = k
    for at in range(found.starts[cell], end):
        row = found.members[at]
        some = counts[row] if worth[row] > cost else min(lack, counts[row])
        left[row] -= some
        lack -= some
    return surplus


@compiled
def better_prices(
    found: CandidateBuffers, counts: Int32, worth: Float64, k: int, target: float, lengths: Float64, stop: Int64
):
    """Improve prices in place; members of cells are sorted.

    Args:
        target: Approximate loss of the best classes; lengths: step lengths, relative to the remaining gap.
    """
    rows, many, renewal = len(counts), 0, 0
    near = np.empty(len(found.costs), np.int64)
    left, course = np.zeros(rows), np.zeros(rows)
    for step in range(len(lengths)):
        if stop[0]:
            return
        if step == renewal:
            many = near_cells(found, counts, worth, k, near)
            renewal = step + max(2, 2 * step // 5)
        bound = 0.0
        for row in range(rows):
            left[row] = counts[row]
            bound += counts[row] * worth[row]
        for at in range(many):
            if step % _SORTED == 0:
                sort_members(found, worth, near[at])
            bound -= cover(found, counts, worth, near[at], k, left)
        square = 0.0
        for row in range(rows):
            course[row] = left[row] / counts[row] + _KEPT * course[row]
            square += counts[row] * course[row] * course[row]
        if square <= 0.0 or bound >= target:
            return
        length = lengths[step] * (target - bound) / square
        for row in range(rows):
            worth[row] = max(worth[row] + length * course[row], 0.0)
