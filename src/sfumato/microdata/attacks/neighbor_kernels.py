"""Compiled loops of neighbors: the published rows that are nearest to a target, and what they say.

Rows are listed by the labels of one column, and a target looks at the labels that are nearest to it first: those that
are further by that column alone than the nearest rows by all are left out.

Distances are whole numbers, `ONE` between what has nothing in common: so sums are exact whatever their order, rows are
equally near or not, and the distance by all columns but one is the whole less that one.
"""

import numpy as np

from sfumato.loops.arrays import Halves, Halves2, Ints, Ints2
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
def _walk(kinds, starts, widths, tables, values, numbers, target, column, sorted_labels, in_order, turns, gaps):
    """Write down the labels of a column as a target looks at them, and how far it is to each: see `nearest`.

    Numbers come in the order of their distance; of other labels, those that are no way off come first.
    """
    if len(in_order) > 0:
        _outward(sorted_labels, in_order, numbers[target, column], turns, gaps)
        return
    turn = 0
    for wanted in range(2):
        for label in range(len(turns)):
            gap = 0
            if column >= 0 and kinds[column] == 0:
                gap = tables[starts[column] + label * widths[column] + values[target, column]]
            elif column >= 0 and label != values[target, column]:
                gap = ONE
            if (gap > 0) == (wanted == 1):
                turns[turn], gaps[turn] = label, gap
                turn += 1


@compiled
def _outward(sorted_labels, in_order, number, turns, gaps):
    above = np.searchsorted(in_order, number)
    below = above - 1
    for turn in range(len(in_order)):
        up = below < 0
        if below >= 0 and above < len(in_order):
            up = in_order[above] - number <= number - in_order[below]
        place = above if up else below
        turns[turn], gaps[turn] = sorted_labels[place], min(abs(in_order[place] - number), ONE)
        above, below = max(above, place + 1), min(below, place - 1)


@compiled
def _far(kinds, starts, widths, tables, labels, low, values, numbers, target, row, without, most):
    """The distance of a row by all columns but one, or something beyond `most` where it is further than that."""
    total = 0
    for column in range(len(kinds)):
        if column != without:
            total += _gap(kinds, starts, widths, tables, labels, low, values, numbers, target, row, column)
            if total > most:
                break
    return total


@compiled
def _insert(far, steps, chosen, target, total, step, row):
    """Put a row among the nearest, if it is: of rows equally near those that come first stay."""
    place = len(far) - 1
    if total > far[place] or (total == far[place] and step >= steps[place]):
        return
    while place > 0 and (total < far[place - 1] or (total == far[place - 1] and step < steps[place - 1])):
        far[place], steps[place] = far[place - 1], steps[place - 1]
        chosen[target, place] = chosen[target, place - 1]
        place -= 1
    far[place], steps[place] = total, step
    chosen[target, place] = row


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
    ranks: Ints,
    firsts: Ints,
    count: int,
    look: int,
    column: int,
    members: Halves,
    ends: Ints,
    begins: Ints,
    sorted_labels: Ints,
    in_order: Ints,
):
    """For each target the `count` nearest published rows; of rows equally near, those that come first.

    order, ranks: (rows,) the rows in an order of chance, and the place of each in it; firsts: (targets,) where in it
    the look of each target begins; look: so many rows are looked at in that order, which is enough where many fit;
    column: by which rows are listed, -1 for none; members: (rows,) the rows by its labels, those together that are
    alike in all columns; ends: (groups + 1,) where each group of these begins; begins: (labels + 1,) the groups where
    those of each label begin; sorted_labels, in_order: its labels by their numbers, and those, none where it has none.
    """
    targets, rows, sizes = values.shape[0], labels.shape[0], len(begins) - 1
    chosen = np.full((targets, count), -1, np.int64)
    far, steps = np.empty(count, np.int64), np.empty(count, np.int64)
    gaps, turns = np.empty(sizes, np.int64), np.empty(sizes, np.int64)
    looked = min(look, rows)
    for target in range(targets):
        for place in range(count):
            far[place], steps[place] = _FAR, rows
        for step in range(looked):
            if far[count - 1] == 0:
                break
            turn = firsts[target] + step
            row = order[turn if turn < rows else turn - rows]
            total = _far(kinds, starts, widths, tables, labels, low, values, numbers, target, row, -1, far[count - 1])
            _insert(far, steps, chosen, target, total, step, row)
        if far[count - 1] == 0 or looked == rows:
            continue
        _walk(kinds, starts, widths, tables, values, numbers, target, column, sorted_labels, in_order, turns, gaps)
        for turn in range(sizes):
            if gaps[turn] > far[count - 1]:
                continue
            for group in range(begins[turns[turn]], begins[turns[turn] + 1]):
                row, most = members[ends[group]], far[count - 1]
                total = _far(kinds, starts, widths, tables, labels, low, values, numbers, target, row, -1, most)
                if total > most:
                    continue
                for at in range(ends[group], ends[group + 1]):
                    step = ranks[members[at]] - firsts[target]
                    if step < 0:
                        step += rows
                    if step >= looked:
                        _insert(far, steps, chosen, target, total, step, members[at])
    return chosen


@compiled
def _answer(answers, target, epoch, counts, stamps):
    """Write down what the nearest rows say: five numbers, as `guesses` has them."""
    first, second, most, next_most, nearest_rows = -1, -1, 0, 0, 0
    for label in range(len(counts)):
        if stamps[label] != epoch:
            continue
        nearest_rows += counts[label]
        if counts[label] > most:
            second, next_most = first, most
            first, most = label, counts[label]
        elif counts[label] > next_most:
            second, next_most = label, counts[label]
    answers[target, 0] = max(first, 0)
    answers[target, 1] = most
    answers[target, 2] = second
    answers[target, 3] = next_most
    answers[target, 4] = nearest_rows


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
    guessed: int,
    size: int,
    column: int,
    members: Halves,
    ends: Ints,
    begins: Ints,
    sorted_labels: Ints,
    in_order: Ints,
):
    """For each target: what most rows say of a column that are nearest by all others.

    Five numbers each: the label that most have and how many have it, the next one (-1 for none) and how many have that,
    and how many rows are nearest. Of labels that as many have, the first.

    guessed, size: the column, and how many labels it has; column and all after it: as `nearest` has them.
    """
    targets, sizes = values.shape[0], len(begins) - 1
    answers = np.zeros((targets, 5), np.int64)
    counts, stamps = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    gaps, turns = np.empty(sizes, np.int64), np.empty(sizes, np.int64)
    epoch = 0
    for target in range(targets):
        best = _FAR
        epoch += 1
        _walk(kinds, starts, widths, tables, values, numbers, target, column, sorted_labels, in_order, turns, gaps)
        for turn in range(sizes):
            if gaps[turn] > best:
                continue
            for group in range(begins[turns[turn]], begins[turns[turn] + 1]):
                row = members[ends[group]]
                total = _far(kinds, starts, widths, tables, labels, low, values, numbers, target, row, guessed, best)
                if total > best:
                    continue
                if total < best:
                    best = total
                    epoch += 1
                for at in range(ends[group], ends[group + 1]):
                    label = labels[members[at], guessed]
                    if stamps[label] != epoch:
                        stamps[label] = epoch
                        counts[label] = 0
                    counts[label] += 1
        _answer(answers, target, epoch, counts, stamps)
    return answers
