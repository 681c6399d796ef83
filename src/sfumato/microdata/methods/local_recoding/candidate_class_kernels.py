"""Compiled loops of local recoding that enumerate the candidate classes (cells) of all nodes, column by column.

A cell is divided by a column from the highest level of acceptable cost downwards; a cell with fewer rows than a class
needs, or with too much loss even at the lowest level, is not divided further. The remaining cells are visited from the
lowest level upwards; a cell with the same rows as a cheaper one is left out. Each cell has a ratio: the loss of k rows
in it, divided by the k largest prices of its rows.

Shapes: n combinations of m columns; `prices` as in kernels.py. `worth` (n,) is the price of a row of each combination;
combinations are numbered by it in decreasing order.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.local_recoding.kernels import LabelCosts
from sfumato.native.array_types import Float64, Float64_2, Float64_3, Int32, Int32_2, Int32_3, Int64, Int64_2
from sfumato.native.dispatch import compiled

_SAME = 1e-12


class Rows(NamedTuple):
    """codes (m, n), counts (n,), worth (n,)."""

    codes: Int32_2
    counts: Int32
    worth: Float64


class Stack(NamedTuple):
    """The division of a cell by each column's levels, and the position of the enumeration.

    Where we are: level, cell (m,) the next to be looked at; highest (m,) the level that was divided by first. Of the
    cell that is divided by a column: start, end, cost, value, top (m + 1,): the ratio from which on it is too dear.

    For one cell: parts (n,) where each row goes; slots (labels,) -1; names, sizes, edges (labels,) of parts. floors
    (m, levels) is what a row loses at least at a level; work (1,) is counted down, and nothing more is looked at once
    it is used up."""

    rows: Int32_3
    starts: Int32_3
    ends: Int32_3
    values: Float64_3
    alike: Int32_3
    cells: Int64_2
    filled: Int64_2
    level: Int64
    cell: Int64
    highest: Int64
    start: Int64
    end: Int64
    cost: Float64
    value: Float64
    top: Float64
    parts: Int32
    slots: Int32
    names: Int32
    sizes: Int64
    edges: Int64
    floors: Float64_2
    work: Int64


@compiled
def ratio_of(cost, value, k):
    """Return the loss of k rows in a cell, divided by the k largest prices."""
    return k * cost / value if value > 0.0 else (np.inf if cost > _SAME else 0.0)


@compiled
def costliest(rows, members, owners, k):
    """Return the sum of the k largest prices in a cell, of unassigned rows; -1 if there are fewer rows."""
    left, total, owned = k, 0.0, len(owners) > 0
    for row in members:
        if not owned or owners[row] < 0:
            some = min(left, rows.counts[row])
            total += some * rows.worth[row]
            left -= some
            if left == 0:
                return total
    return -1.0


@compiled
def divide(rows, stack, prices, column, level, members, owners, k, lowest):
    """Divide a cell by the labels of a column at a level, without rows already in a class.

    Returns:
        How many labels its rows have.
    """
    labels, codes, counts = prices.labels[column, level], rows.codes[column], rows.counts
    slots, names, sizes, edges, parts = stack.slots, stack.names, stack.sizes, stack.edges, stack.parts
    owned = len(owners) > 0
    stack.work[0] -= len(members)
    many = 0
    for at in range(len(members)):
        row = members[at]
        if owned and owners[row] >= 0:
            parts[at] = -1
            continue
        label = labels[codes[row]]
        slot = slots[label]
        if slot < 0:
            slot = slots[label] = many
            names[many] = label
            edges[many] = sizes[many] = 0
            many += 1
        parts[at] = slot
        edges[slot] += 1
        sizes[slot] += counts[row]
    begin = filled = stack.filled[column, level]
    for slot in range(many):
        slots[names[slot]] = -1
        number = edges[slot]
        edges[slot] = filled if sizes[slot] >= k else -1
        filled += number if sizes[slot] >= k else 0
    if filled > begin:
        divided = stack.rows[column, level]
        for at in range(len(members)):
            slot = parts[at]
            if slot >= 0 and edges[slot] >= 0:
                divided[edges[slot]] = members[at]
                edges[slot] += 1
        note_cells(rows, stack, column, level, many, begin, owners, k, lowest)
        stack.filled[column, level] = filled
    return many


@compiled
def note_cells(rows, stack, column, level, many, begin, owners, k, lowest):
    """Store those of the cells just divided that are not too expensive at the lowest level."""
    cost = stack.cost[column] + stack.floors[column, lowest[column]]
    cells = stack.cells[column, level]
    for slot in range(many):
        end = stack.edges[slot]
        if end < 0:
            continue
        value = costliest(rows, stack.rows[column, level, begin:end], owners, k)
        if ratio_of(cost, value, k) <= stack.top[column]:
            stack.starts[column, level, cells], stack.ends[column, level, cells] = begin, end
            stack.values[column, level, cells], stack.alike[column, level, cells] = value, 0
            cells += 1
        begin = end
    stack.cells[column, level] = cells


@compiled
def spread(rows, stack, prices, column, members, owners, k, lowest, highest):
    """Divide a cell by a column at all levels that are not too expensive, the highest first."""
    low, level = lowest[column], highest[column]
    cost, value, top = stack.cost[column], stack.value[column], stack.top[column]
    while level > low and ratio_of(cost + stack.floors[column, level], value, k) > top:
        level -= 1
    for at in range(low, level + 1):
        stack.cells[column, at] = stack.filled[column, at] = 0
    divide(rows, stack, prices, column, level, members, owners, k, lowest)
    stack.highest[column], stack.level[column], stack.cell[column] = level, low, 0
    while level > low:
        for cell in range(stack.cells[column, level]):
            start, end = stack.starts[column, level, cell], stack.ends[column, level, cell]
            part = stack.rows[column, level, start:end]
            many = divide(rows, stack, prices, column, level - 1, part, owners, k, lowest)
            stack.alike[column, level, cell] = many == 1
        level -= 1


@compiled
def lower(rows, members, ratio, factors):
    """Lower the factors of a cell's rows to its ratio; rows with price 0 need none."""
    for row in members:
        if rows.worth[row] <= 0.0:
            return
        factors[row] = min(factors[row], ratio)


@compiled
def largest(members, factors):
    """Return the largest factor of a cell's rows."""
    top = 0.0
    for row in members:
        top = max(top, factors[row])
    return top


@compiled
def take(rows, members, cost, k, owners, number):
    """Make a class of a cell's rows with the highest prices: k, and those with a price of at least their loss."""
    size = 0
    for row in members:
        if owners[row] < 0 and (size < k or rows.worth[row] >= cost - _SAME):
            owners[row] = number
            size += rows.counts[row]


@compiled
def start_walk(rows, stack, prices, whole, lowest, highest, k, owners, limit):
    """Prepare the enumeration of the cells of some rows."""
    stack.cost[0], stack.top[0] = 0.0, limit
    stack.value[0] = costliest(rows, whole, owners, k)
    for column in range(len(lowest)):
        stack.highest[column], stack.level[column] = highest[column], highest[column] + 1
    if stack.value[0] >= 0.0:
        spread(rows, stack, prices, 0, whole, owners, k, lowest, highest)


@compiled
def next_cell(rows, stack, prices, lowest, highest, k, owners, factors, limit, stop):
    """Advance to the next cell with a ratio at most the limit and below the factor of one of its rows.

    Returns:
        Its ratio; -1 where there is none left. `last_cell` has its members.
    """
    last, wanted, owned = len(lowest) - 1, len(factors) > 0, len(owners) > 0
    column = last
    while column >= 0 and stack.work[0] > 0 and not stop[0]:
        level = stack.level[column]
        if level > stack.highest[column]:
            column -= 1
            continue
        cell = stack.cell[column]
        if cell == stack.cells[column, level]:
            stack.level[column] += 1
            stack.cell[column] = 0
            continue
        stack.cell[column] += 1
        if stack.alike[column, level, cell]:
            continue
        start, end = stack.starts[column, level, cell], stack.ends[column, level, cell]
        members = stack.rows[column, level, start:end]
        value = costliest(rows, members, owners, k) if owned else stack.values[column, level, cell]
        if value < 0.0 or (wanted and value == 0.0):
            continue
        cost = stack.cost[column] + prices.costs[column, level, rows.codes[column, members[0]]]
        ratio = ratio_of(cost, value, k)
        if ratio > limit:
            continue
        top = limit
        if wanted:
            top = largest(members, factors)
            if ratio >= top:
                continue
        stack.cost[column + 1], stack.value[column + 1], stack.top[column + 1] = cost, value, top
        stack.start[column + 1], stack.end[column + 1] = start, end
        if column == last:
            return ratio
        column += 1
        spread(rows, stack, prices, column, members, owners, k, lowest, highest)
    return -1.0


@compiled
def last_cell(stack):
    """Return the members of the current cell."""
    last = len(stack.level) - 1
    return stack.rows[last, stack.level[last], stack.start[last + 1] : stack.end[last + 1]]


@compiled
def lower_factors(
    rows: Rows, stack: Stack, prices: LabelCosts, whole: Int32, lowest: Int64, highest: Int64, k: int, owners: Int64,
    factors: Float64, stop: Int64,
):  # fmt: skip
    """Lower the factor of each combination to the smallest ratio of all cells that contain it.

    Returns:
        Whether all cells were gone through.
    """
    start_walk(rows, stack, prices, whole, lowest, highest, k, owners, np.inf)
    while True:
        ratio = next_cell(rows, stack, prices, lowest, highest, k, owners, factors, np.inf, stop)
        if ratio < 0.0:
            return stack.work[0] > 0 and not stop[0]
        lower(rows, last_cell(stack), ratio, factors)


@compiled
def make_classes(
    rows: Rows, stack: Stack, prices: LabelCosts, whole: Int32, lowest: Int64, highest: Int64, k: int, owners: Int64,
    factors: Float64, limit: float, number: int, stop: Int64,
):  # fmt: skip
    """Make classes of the cells with a ratio at most a limit, in order, from unassigned rows.

    Returns:
        The number after the last class.
    """
    start_walk(rows, stack, prices, whole, lowest, highest, k, owners, limit)
    while True:
        ratio = next_cell(rows, stack, prices, lowest, highest, k, owners, factors, limit, stop)
        if ratio < 0.0:
            return number
        take(rows, last_cell(stack), stack.cost[len(lowest)], k, owners, number)
        number += 1
