"""Compiled loops of attacks: nearest rows, rows that satisfy predicates, and shuffles of R and Python."""

from typing import NamedTuple

import numpy as np

from sfumato.native.array_types import Int32, Int32_2, Int64, Int64_2, UInt8
from sfumato.native.dispatch import compiled

ONE = 1 << 40
_FAR = 1 << 62


class Sides(NamedTuple):
    """Published rows and targets as parallel arrays.

    kinds: Of each column: 0 a table of distances, 1 numbers (already divided by their range), 2 equality, 3 not known
        to the attacker.
    starts, widths: Where the table of each column begins in `tables`, and how wide it is.
    labels, low: (rows, columns) codes and numbers of published rows.
    values, numbers: (targets, columns) those of targets.
    """

    kinds: Int64
    starts: Int64
    widths: Int64
    tables: Int64
    labels: Int32_2
    low: Int64_2
    values: Int32_2
    numbers: Int64_2


class Listing(NamedTuple):
    """The published rows by the labels of one column.

    members: (rows,) The rows by its labels, those together that are alike in all columns.
    ends: (groups + 1,) Where each group of these begins.
    begins: (labels + 1,) The groups where those of each label begin.
    sorted_labels, in_order: Its labels by their numbers, and those; none where it has none.
    """

    members: Int32
    ends: Int64
    begins: Int64
    sorted_labels: Int64
    in_order: Int64


class Turns(NamedTuple):
    """Rows in random order.

    order, ranks: (rows,) The rows in it, and the place of each.
    firsts: (targets,) Where in it the look of each target begins.
    """

    order: Int64
    ranks: Int64
    firsts: Int64


@compiled
def _gap(sides, target, row, column):
    """The distance between a target and a published row by a column."""
    kind = sides.kinds[column]
    if kind == 0:
        return _in_table(sides, column, sides.labels[row, column], target)
    if kind == 1:
        return min(abs(sides.low[row, column] - sides.numbers[target, column]), ONE)
    if kind == 3 or sides.labels[row, column] == sides.values[target, column]:
        return 0
    return ONE


@compiled
def _in_table(sides, column, label, target):
    """The distance between a target and a label by the table of a column."""
    return sides.tables[sides.starts[column] + label * sides.widths[column] + sides.values[target, column]]


@compiled
def _walk(sides, target, column, listing, turns, gaps):
    """List the labels of a column in the order in which a target visits them, with their distances; see `nearest`.

    Numbers come in the order of their distance; of other labels, those that are no way off come first.
    """
    if len(listing.in_order) > 0:
        _outward(listing.sorted_labels, listing.in_order, sides.numbers[target, column], turns, gaps)
        return
    turn = 0
    for wanted in range(2):
        for label in range(len(turns)):
            gap = 0
            if column >= 0 and sides.kinds[column] == 0:
                gap = _in_table(sides, column, label, target)
            elif column >= 0 and label != sides.values[target, column]:
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
def _far(sides, target, row, without, most):
    """Return the distance of a row by all columns but one, or a number above `most` if it is larger."""
    total = 0
    for column in range(len(sides.kinds)):
        if column != without:
            total += _gap(sides, target, row, column)
            if total > most:
                break
    return total


@compiled
def _insert(far, steps, chosen, target, total, step, row):
    """Insert a row into the nearest ones if it is near enough; of rows at equal distance the first ones stay."""
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
def _look(sides, target, chance, looked, far, steps, chosen):
    """Visit rows in random order until enough have distance 0."""
    rows, last = len(chance.order), len(far) - 1
    for step in range(looked):
        if far[last] == 0:
            break
        turn = chance.firsts[target] + step
        row = chance.order[turn if turn < rows else turn - rows]
        _insert(far, steps, chosen, target, _far(sides, target, row, -1, far[last]), step, row)


@compiled
def _look_on(sides, target, chance, looked, listing, label, far, steps, chosen):
    """Visit the rows of a label that were not visited yet."""
    rows, last = len(chance.order), len(far) - 1
    for group in range(listing.begins[label], listing.begins[label + 1]):
        most = far[last]
        total = _far(sides, target, listing.members[listing.ends[group]], -1, most)
        if total > most:
            continue
        for at in range(listing.ends[group], listing.ends[group + 1]):
            step = chance.ranks[listing.members[at]] - chance.firsts[target]
            if step < 0:
                step += rows
            if step >= looked:
                _insert(far, steps, chosen, target, total, step, listing.members[at])


@compiled
def nearest(sides: Sides, chance: Turns, count: int, look: int, column: int, listing: Listing):
    """Return for each target the `count` nearest published rows; of rows at equal distance, those that come first.

    look: how many rows are visited in random order, which is enough if many match; column: by which rows are
    listed, -1 for none.
    """
    targets, rows, sizes = sides.values.shape[0], sides.labels.shape[0], len(listing.begins) - 1
    chosen = np.full((targets, count), -1, np.int64)
    far, steps = np.empty(count, np.int64), np.empty(count, np.int64)
    gaps, turns = np.empty(sizes, np.int64), np.empty(sizes, np.int64)
    looked = min(look, rows)
    for target in range(targets):
        for place in range(count):
            far[place], steps[place] = _FAR, rows
        _look(sides, target, chance, looked, far, steps, chosen)
        if far[count - 1] == 0 or looked == rows:
            continue
        _walk(sides, target, column, listing, turns, gaps)
        for turn in range(sizes):
            if gaps[turn] <= far[count - 1]:
                _look_on(sides, target, chance, looked, listing, turns[turn], far, steps, chosen)
    return chosen


@compiled
def _answer(answers, target, epoch, counts, stamps):
    """Write the result of the nearest rows: five numbers, as described in `guesses`."""
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
def _count(counts, stamps, epoch, label):
    """Count a label; counts of other epochs are zero."""
    if stamps[label] != epoch:
        stamps[label] = epoch
        counts[label] = 0
    counts[label] += 1


@compiled
def guesses(sides: Sides, guessed: int, size: int, column: int, listing: Listing):
    """Return for each target the most frequent values of a column among the rows that are nearest by all others.

    Five numbers each: the most frequent label and its count, the second one (-1 for none) and its count,
    and the number of nearest rows. Of equally frequent labels, the first.

    guessed, size: the column, and how many labels it has; column: by which rows are listed, -1 for none.
    """
    targets, sizes = sides.values.shape[0], len(listing.begins) - 1
    answers = np.zeros((targets, 5), np.int64)
    counts, stamps = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    gaps, turns = np.empty(sizes, np.int64), np.empty(sizes, np.int64)
    epoch = 0
    for target in range(targets):
        best = _FAR
        epoch += 1
        _walk(sides, target, column, listing, turns, gaps)
        for turn in range(sizes):
            if gaps[turn] > best:
                continue
            for group in range(listing.begins[turns[turn]], listing.begins[turns[turn] + 1]):
                total = _far(sides, target, listing.members[listing.ends[group]], guessed, best)
                if total > best:
                    continue
                if total < best:
                    best = total
                    epoch += 1
                for at in range(listing.ends[group], listing.ends[group + 1]):
                    _count(counts, stamps, epoch, sides.labels[listing.members[at], guessed])
        _answer(answers, target, epoch, counts, stamps)
    return answers


@compiled
def rows_of_codes(codes: Int32, begins: Int64):
    """Sort the rows by their codes; begins: (codes + 1,) where those of each code begin."""
    members = np.empty(len(codes), np.int32)
    next_places = begins.copy()
    for row in range(len(codes)):
        members[next_places[codes[row]]] = row
        next_places[codes[row]] += 1
    return members


@compiled
def _fulfils(truths, offset, code):
    return (truths[offset + (code >> 3)] >> (code & 7)) & 1


@compiled
def _rarest(starts, numbers, predicate):
    """Return the condition of a predicate that the fewest rows satisfy."""
    best = starts[predicate]
    for place in range(starts[predicate] + 1, starts[predicate + 1]):
        if numbers[place] < numbers[best]:
            best = place
    return best


@compiled
def _holds(starts, columns, offsets, truths, codes, predicate, known, row):
    """Return whether a row that satisfies one condition of a predicate satisfies all others."""
    for place in range(starts[predicate], starts[predicate + 1]):
        if place != known and not _fulfils(truths, offsets[place], codes[columns[place], row]):
            return False
    return True


@compiled
def count_rows(
    starts: Int64,
    columns: Int64,
    offsets: Int64,
    numbers: Int64,
    truths: UInt8,
    codes: Int32_2,
    members: Int32_2,
    begins: Int64,
    firsts: Int64,
    enough: int,
):
    """Count for each predicate the rows that satisfy all its conditions; counting stops beyond `enough`.

    Only rows that satisfy the rarest condition are visited.

    starts: (predicates + 1,) where the conditions of each begin; columns: (conditions,) the column of each; offsets:
    where the truth of each code of that column begins in `truths`, a bit a code; numbers: how many rows fulfil it;
    codes, members: (columns, rows) the code of each row, and the rows in the order of their codes; begins: where those
    of each code begin, one column after the other; firsts: (columns + 1,) where each column begins there.
    """
    predicates = len(starts) - 1
    counts = np.zeros(predicates, np.int64)
    for predicate in range(predicates):
        known = _rarest(starts, numbers, predicate)
        column, count = columns[known], 0
        first = firsts[column]
        for code in range(firsts[column + 1] - first - 1):
            if count > enough:
                break
            if not _fulfils(truths, offsets[known], code):
                continue
            for at in range(begins[first + code], begins[first + code + 1]):
                if _holds(starts, columns, offsets, truths, codes, predicate, known, members[column, at]):
                    count += 1
                    if count > enough:
                        break
        counts[predicate] = count
    return counts


@compiled
def order_of_r(words: Int64, left: Int64, first: int):
    """Return the first positions of the order that R draws; fewer if the random words do not suffice.

    words: of 32 bits each, of which R takes the upper half; left: (rows,) the rows, which are changed.
    """
    number, order = len(left), np.empty(first, np.int64)
    used = 0
    for place in range(first):
        size, bits = number - place, 0
        while (1 << bits) < size:
            bits += 1
        draws, at = bits // 16 + 1, size
        while at >= size:
            if used + draws > len(words):
                return order[:place]
            at = 0
            for draw in range(draws):
                at = (at << 16) | (words[used + draw] >> 16)
            used += draws
            at &= (1 << bits) - 1
        order[place] = left[at]
        left[at] = left[size - 1]
    return order


@compiled
def order_of_python(words: Int64, order: Int64):
    """Return how many random words Python's `shuffle` uses to shuffle the rows; none if they do not suffice."""
    used, size = 0, len(order)
    while size > 1:
        bits = 0
        while (1 << bits) <= size:
            bits += 1
        at = size
        while at >= size:
            if used == len(words):
                return -1
            at = words[used] >> (32 - bits)
            used += 1
        size -= 1
        order[size], order[at] = order[at], order[size]
    return used
