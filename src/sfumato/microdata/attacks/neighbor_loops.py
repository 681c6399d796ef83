"""Compiled loops of neighbors: the published rows that are nearest to a target, and what they say.

They are compiled by numba when an attack is first run: they draw, or are no part of a release, so that installing does
not build them.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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
            total += gap if gap < 1.0 else 1.0
        elif labels[column, row] != values[column, target]:
            total += 1.0
    return total


@njit(cache=True, nogil=True)
def nearest(kinds, starts, widths, tables, labels, low, values, numbers, count, seed):
    """For each target the `count` nearest published rows; rows equally near come in an order of chance."""
    targets, rows = values.shape[1], labels.shape[1]
    chosen = np.full((targets, count), -1, np.int64)
    np.random.seed(seed)
    for target in range(targets):
        far = np.full(count, np.inf)
        luck = np.full(count, np.inf)
        for row in range(rows):
            gap = _distance(kinds, starts, widths, tables, labels, low, values, numbers, target, row)
            if gap > far[count - 1]:
                continue
            chance = np.random.random()
            if gap == far[count - 1] and chance >= luck[count - 1]:
                continue
            place = count - 1
            while place > 0 and (gap < far[place - 1] or (gap == far[place - 1] and chance < luck[place - 1])):
                far[place], luck[place] = far[place - 1], luck[place - 1]
                chosen[target, place] = chosen[target, place - 1]
                place -= 1
            far[place], luck[place], chosen[target, place] = gap, chance, row
    return chosen


@njit(cache=True, nogil=True)
def votes(kinds, starts, widths, tables, labels, low, values, numbers, content, size):
    """For each target, how often each value (code below `size`) stands in the published rows that are nearest."""
    targets, rows = values.shape[1], labels.shape[1]
    counts = np.zeros((targets, size), np.int64)
    for target in range(targets):
        best = np.inf
        for row in range(rows):
            gap = _distance(kinds, starts, widths, tables, labels, low, values, numbers, target, row)
            if gap < best:
                best = gap
                counts[target, :] = 0
            if gap == best:
                counts[target, content[row]] += 1
    return counts
