"""Compiled loops of neighbors: the published rows that are nearest to a target, and what they say."""

import numpy as np

from sfumato.loops.arrays import Halves2, Ints, Reals, Reals2
from sfumato.loops.compiled import compiled


@compiled
def _distance(kinds, starts, widths, tables, labels, low, values, numbers, target, row):
    """The sum of distances between a target and a published row, over the columns.

    kinds: 0 a table of distances, 1 numbers (already divided by their range), 2 equality; starts, widths: where the
    table of each column begins and how wide it is; labels, low: (columns, rows) codes and numbers of published rows;
    values, numbers: (columns, targets) those of targets.
    """
    total = 0.0
    for column in range(len(kinds)):
        kind = kinds[column]
        if kind == 0:
            total += tables[starts[column] + labels[column, row] * widths[column] + values[column, target]]
        elif kind == 1:
            gap = abs(low[column, row] - numbers[column, target])
            total += min(gap, 1.0)
        elif labels[column, row] != values[column, target]:
            total += 1.0
    return total


@compiled
def nearest(
    kinds: Ints,
    starts: Ints,
    widths: Ints,
    tables: Reals,
    labels: Halves2,
    low: Reals2,
    values: Halves2,
    numbers: Reals2,
    order: Ints,
    begins: Ints,
    count: int,
):
    """For each target the `count` nearest published rows; of rows equally near, those that come first.

    order: (rows,) the rows in an order of chance; begins: (targets,) where in it the look of each target begins.
    """
    targets, rows = values.shape[1], labels.shape[1]
    chosen = np.full((targets, count), -1, np.int64)
    far = np.empty(count, np.float64)
    for target in range(targets):
        for place in range(count):
            far[place] = np.inf
        for step in range(rows):
            turn = begins[target] + step
            row = order[turn if turn < rows else turn - rows]
            gap = _distance(kinds, starts, widths, tables, labels, low, values, numbers, target, row)
            if gap >= far[count - 1]:
                continue
            place = count - 1
            while place > 0 and gap < far[place - 1]:
                far[place] = far[place - 1]
                chosen[target, place] = chosen[target, place - 1]
                place -= 1
            far[place] = gap
            chosen[target, place] = row
    return chosen


@compiled
def votes(
    kinds: Ints,
    starts: Ints,
    widths: Ints,
    tables: Reals,
    labels: Halves2,
    low: Reals2,
    values: Halves2,
    numbers: Reals2,
    content: Ints,
    size: int,
):
    """For each target, how often each value (code below `size`) stands in the published rows that are nearest."""
    targets, rows = values.shape[1], labels.shape[1]
    counts = np.zeros((targets, size), np.int64)
    for target in range(targets):
        best = np.inf
        for row in range(rows):
            gap = _distance(kinds, starts, widths, tables, labels, low, values, numbers, target, row)
            if gap < best:
                best = gap
                for value in range(size):
                    counts[target, value] = 0
            if gap == best:
                counts[target, content[row]] += 1
    return counts
