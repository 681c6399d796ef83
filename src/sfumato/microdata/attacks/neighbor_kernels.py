"""Compiled loops of neighbors: the published rows that are nearest to a target, and what they say.

Distances are whole numbers, `ONE` between what has nothing in common: so sums are exact whatever their order, rows are
equally near or not, and the distance by all columns but one is the whole less that one.
"""

import numpy as np

from sfumato.loops.arrays import Halves2, Ints, Ints2
from sfumato.loops.compiled import compiled

ONE = 1 << 40
_FAR = 1 << 62


@compiled
def _gap(kinds, starts, widths, tables, labels, low, values, numbers, target, row, column):
    """The distance between a target and a published row by a column.

    kinds: 0 a table of distances, 1 numbers (already divided by their range), 2 equality, 3 not known to the attacker;
    starts, widths: where the table of each column begins and how wide it is; labels, low: (rows, columns) codes and
    numbers of published rows; values, numbers: (targets, columns) those of targets.
    """
    kind = kinds[column]
    if kind == 0:
        return tables[starts[column] + labels[row, column] * widths[column] + values[target, column]]
    if kind == 1:
        apart = abs(low[row, column] - numbers[target, column])
        return min(apart, ONE)
    if kind == 3:
        return 0
    if labels[row, column] != values[target, column]:
        return ONE
    return 0


@compiled
def nearest(
    kinds: Ints,
    starts: Ints,
    widths: Ints,
    tables: Ints,
    labels: Halves2,
    low: Ints2,
    values: Halves2,
    numbers: Ints2,
    order: Ints,
    begins: Ints,
    count: int,
):
    """For each target the `count` nearest published rows; of rows equally near, those that come first.

    order: (rows,) the rows in an order of chance; begins: (targets,) where in it the look of each target begins.
    """
    targets, rows = values.shape[0], labels.shape[0]
    chosen = np.full((targets, count), -1, np.int64)
    far = np.empty(count, np.int64)
    for target in range(targets):
        for place in range(count):
            far[place] = _FAR
        for step in range(rows):
            turn = begins[target] + step
            row = order[turn if turn < rows else turn - rows]
            total = 0
            for column in range(len(kinds)):
                total += _gap(kinds, starts, widths, tables, labels, low, values, numbers, target, row, column)
                if total >= far[count - 1]:
                    break
            if total >= far[count - 1]:
                continue
            place = count - 1
            while place > 0 and total < far[place - 1]:
                far[place] = far[place - 1]
                chosen[target, place] = chosen[target, place - 1]
                place -= 1
            far[place] = total
            chosen[target, place] = row
    return chosen


@compiled
def _counted(labels, row, total, own, slots, offsets, best, epochs, counts, stamps, epoch):
    """Count what a row says for each guessed column by which it is among the nearest, or nearer than all before it.

    Returns:
        How far the nearest are by the column where they are furthest, and the number of the last look begun.
    """
    worst = 0
    for column in range(len(slots)):
        slot = slots[column]
        if slot < 0:
            continue
        rest = total - own[slot]
        if rest < best[slot]:
            best[slot] = rest
            epoch += 1
            epochs[slot] = epoch
        if rest == best[slot]:
            place = offsets[slot] + labels[row, column]
            if stamps[place] != epochs[slot]:
                stamps[place] = epochs[slot]
                counts[place] = 0
            counts[place] += 1
        worst = max(worst, best[slot])
    return worst, epoch


@compiled
def _answer(answers, target, offsets, epochs, counts, stamps):
    """Write down what the nearest rows say of each guessed column: five numbers, as `guesses` has them."""
    for slot in range(len(offsets) - 1):
        first, second, most, next_most, nearest_rows = -1, -1, 0, 0, 0
        for place in range(offsets[slot], offsets[slot + 1]):
            if stamps[place] != epochs[slot]:
                continue
            nearest_rows += counts[place]
            if counts[place] > most:
                second, next_most = first, most
                first, most = place - offsets[slot], counts[place]
            elif counts[place] > next_most:
                second, next_most = place - offsets[slot], counts[place]
        answers[target, 5 * slot] = max(first, 0)
        answers[target, 5 * slot + 1] = most
        answers[target, 5 * slot + 2] = second
        answers[target, 5 * slot + 3] = next_most
        answers[target, 5 * slot + 4] = nearest_rows


@compiled
def guesses(
    kinds: Ints,
    starts: Ints,
    widths: Ints,
    tables: Ints,
    labels: Halves2,
    low: Ints2,
    values: Halves2,
    numbers: Ints2,
    slots: Ints,
    offsets: Ints,
):
    """For each target and each column that is guessed: what most rows say that are nearest by all other columns.

    Five numbers each: the label that most have and how many have it, the next one (-1 for none) and how many have that,
    and how many rows are nearest. Of labels that as many have, the first.

    slots: (columns,) which of the guessed columns it is, -1 for one that is not; offsets: (guessed + 1,) where counts
    of the labels of each begin.
    """
    targets, rows, columns = values.shape[0], labels.shape[0], len(kinds)
    guessed = len(offsets) - 1
    answers = np.zeros((targets, 5 * guessed), np.int64)
    counts = np.zeros(offsets[guessed], np.int64)
    stamps = np.full(offsets[guessed], -1, np.int64)
    epochs = np.zeros(guessed, np.int64)
    best = np.empty(guessed, np.int64)
    own = np.zeros(guessed, np.int64)
    epoch = 0
    for target in range(targets):
        for slot in range(guessed):
            best[slot] = _FAR
        worst = _FAR
        for row in range(rows):
            total = 0
            near = True
            for column in range(columns):
                gap = _gap(kinds, starts, widths, tables, labels, low, values, numbers, target, row, column)
                total += gap
                if slots[column] >= 0:
                    own[slots[column]] = gap
                # No column is further than ONE: without any of them the row stays too far.
                if total - ONE > worst:
                    near = False
                    break
            if not near:
                continue
            worst, epoch = _counted(labels, row, total, own, slots, offsets, best, epochs, counts, stamps, epoch)
        _answer(answers, target, offsets, epochs, counts, stamps)
    return answers
