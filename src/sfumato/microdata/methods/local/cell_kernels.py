"""Compiled loops of local recoding that go through the cells of all nodes: column by column, cell by cell.

A cell with fewer rows than a class needs is left with all below it; so is one with the same rows as a cheaper one.
Each cell has a ratio: what k rows lose in it, divided by the k largest prices of its rows.

Shapes: n combinations of m columns; `prices` as in kernels.py. `worth` (n,) is the price of a row of each combination,
`rows` (n,) are the combinations, the dearest first.
"""

from typing import NamedTuple

import numpy as np

from sfumato.loops.arrays import Halves, Halves2, Ints, Ints2, Reals, Reals2
from sfumato.loops.compiled import compiled
from sfumato.microdata.methods.local.kernels import Prices

_SAME = 1e-12


class Rows(NamedTuple):
    """codes (m, n), counts (n,), worth (n,)."""

    codes: Halves2
    counts: Ints
    worth: Reals


class Stack(NamedTuple):
    """Room for each column: parts (n,) where each combination of a cell goes; rows (m, n) of the cells that a cell is
    divided into; edges (m, labels + 1) of these; tops (m, labels) their largest factor; alike (m, n) the size of the
    cell that begins with a combination, one level lower; slots (labels,) -1; level, cells, cell (m,); cost (m + 1,) of
    the columns before; start, end (m + 1,) of the cell that is divided; work (1,) is counted down, and nothing more is
    looked at once it is used up."""

    parts: Halves
    rows: Halves2
    edges: Ints2
    tops: Reals2
    alike: Halves2
    slots: Ints
    level: Ints
    cells: Ints
    cell: Ints
    cost: Reals
    start: Ints
    end: Ints
    work: Ints


@compiled
def divide(rows, stack, prices, column, owners, factors, whole):
    """Divide a cell by the labels of a column at a level; rows that are in a class already are left out."""
    labels, codes = prices.labels[column, stack.level[column]], rows.codes[column]
    slots, edges, tops, parts = stack.slots, stack.edges[column], stack.tops[column], stack.parts
    start, end = stack.start[column], stack.end[column]
    owned, wanted = len(owners) > 0, len(factors) > 0
    stack.work[0] -= end - start
    many = 0
    for at in range(start, end):
        row = whole[at]
        if owned and owners[row] >= 0:
            parts[at] = -1
            continue
        label = labels[codes[row]]
        slot = slots[label]
        if slot < 0:
            slot = slots[label] = many
            edges[many + 1] = 0
            tops[many] = 0.0
            many += 1
        parts[at] = slot
        edges[slot + 1] += 1
        if wanted and factors[row] > tops[slot]:
            tops[slot] = factors[row]
    edges[0] = 0
    total = 0
    for slot in range(many):
        size = edges[slot + 1]
        edges[slot + 1] = total
        total += size
    divided = stack.rows[column]
    for at in range(start, end):
        slot = parts[at]
        if slot >= 0:
            divided[edges[slot + 1]] = whole[at]
            edges[slot + 1] += 1
    for slot in range(many):
        slots[labels[codes[divided[edges[slot]]]]] = -1
    stack.cells[column], stack.cell[column] = many, 0


@compiled
def dearest(rows, members, owners, k):
    """The k largest prices in a cell, added up, of rows that are in no class; -1 where there are fewer rows."""
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
def lower(rows, members, ratio, factors):
    """Lower the factors of a cell's rows to its ratio; those worth nothing need none."""
    for row in members:
        if rows.worth[row] <= 0.0:
            return
        factors[row] = min(factors[row], ratio)


@compiled
def take(rows, members, cost, k, owners, number):
    """Make a class of a cell's dearest rows: k, and those besides that are worth what they lose in it."""
    size = 0
    for row in members:
        if owners[row] < 0 and (size < k or rows.worth[row] >= cost - _SAME):
            owners[row] = number
            size += rows.counts[row]


@compiled
def next_cell(rows, stack, prices, whole, lowest, highest, k, owners, factors, limit, stop):
    """Go on to the next cell of all columns whose ratio may be below the limit, or below the factor of one of its rows.

    Returns:
        Its ratio; -1 where there is none left. It stands in the last column of the stack, before the current cell.
    """
    last = len(lowest) - 1
    column = last
    if stack.level[last] < 0:
        column = 0
        begin(stack, 0, lowest)
    while column >= 0 and stack.work[0] > 0 and not stop[0]:
        if stack.cell[column] == stack.cells[column]:
            stack.level[column] += 1
            if stack.cells[column] == 1 or stack.level[column] > highest[column]:
                # Of one cell alone: higher levels have the same rows, and cost no less.
                column -= 1
                continue
            divide(rows, stack, prices, column, owners, factors, stack.rows[column - 1] if column else whole)
            continue
        cell = stack.cell[column]
        stack.cell[column] += 1
        start, end = stack.edges[column, cell], stack.edges[column, cell + 1]
        first = stack.rows[column, start]
        same = stack.level[column] > lowest[column] and stack.alike[column, first] == end - start
        stack.alike[column, first] = end - start
        if same:
            continue
        members = stack.rows[column, start:end]
        worth = dearest(rows, members, owners, k)
        if worth <= 0.0 and (worth < 0.0 or limit == np.inf):
            continue
        cost = stack.cost[column] + prices.costs[column, stack.level[column], rows.codes[column, first]]
        ratio = k * cost / worth if worth > 0.0 else (np.inf if cost > _SAME else 0.0)
        if ratio > limit or (limit == np.inf and ratio >= stack.tops[column, cell]):
            continue
        if column == last:
            stack.cost[last + 1] = cost
            return ratio
        stack.cost[column + 1] = cost
        stack.start[column + 1], stack.end[column + 1] = start, end
        column += 1
        begin(stack, column, lowest)
    return -1.0


@compiled
def begin(stack, column, lowest):
    """Be ready to divide a cell by a column for the first time."""
    stack.level[column] = lowest[column] - 1
    stack.cell[column] = stack.cells[column] = 0


@compiled
def lower_factors(
    rows: Rows, stack: Stack, prices: Prices, whole: Halves, lowest: Ints, highest: Ints, k: int, owners: Ints,
    factors: Reals, stop: Ints,
):  # fmt: skip
    """Lower the factor of each combination to the least ratio of all cells around it.

    Returns:
        Whether all cells were gone through.
    """
    last = len(lowest) - 1
    stack.level[last] = -1
    stack.start[0], stack.end[0] = 0, len(whole)
    stack.cost[0] = 0.0
    while True:
        ratio = next_cell(rows, stack, prices, whole, lowest, highest, k, owners, factors, np.inf, stop)
        if ratio < 0.0:
            return stack.work[0] > 0 and not stop[0]
        cell = stack.cell[last] - 1
        lower(rows, stack.rows[last, stack.edges[last, cell] : stack.edges[last, cell + 1]], ratio, factors)


@compiled
def make_classes(
    rows: Rows, stack: Stack, prices: Prices, whole: Halves, lowest: Ints, highest: Ints, k: int, owners: Ints,
    factors: Reals, limit: float, number: int, stop: Ints,
):  # fmt: skip
    """Make classes of the cells whose ratio is not above a limit, as they come, out of the rows that are in none.

    Returns:
        The number after the last class.
    """
    last = len(lowest) - 1
    stack.level[last] = -1
    stack.start[0], stack.end[0] = 0, len(whole)
    stack.cost[0] = 0.0
    while True:
        ratio = next_cell(rows, stack, prices, whole, lowest, highest, k, owners, factors, limit, stop)
        if ratio < 0.0:
            break
        cell = stack.cell[last] - 1
        members = stack.rows[last, stack.edges[last, cell] : stack.edges[last, cell + 1]]
        take(rows, members, stack.cost[last + 1], k, owners, number)
        number += 1
    return number
