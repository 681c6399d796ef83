"""Compiled loops of measures: unique rows, record linkage of perturbed numbers, and how well labels can be guessed."""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Float64_2, Int32, Int64, UInt8, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

_ONE = np.uint64(1)


@compiled
def single_out(owners: Int32, sizes: Int64, rows: Int32, out_rows: Int32, singled: UInt64):
    """Mark in `singled` the rows that are alone in their class; `out_rows` receives a row of each class.

    Args:
        owners: (n,) the class of each entry that was grouped; rows: (n,) a combination of each of these entries.
        sizes: (classes,) their rows; singled: bits of combinations, none set.

    Returns:
        How many rows are alone, and how many ordered pairs of rows lie in one class.
    """
    alone, pairs = 0, 0.0
    for entry in range(len(owners)):
        owner, row = owners[entry], rows[entry]
        out_rows[owner] = row
        if sizes[owner] == 1:
            alone += 1
            singled[row >> 6] |= _ONE << np.uint64(row & 63)
    for size in sizes:
        pairs += np.float64(size) * (size - 1)
    return alone, pairs


@compiled
def score(
    singled: UInt64, parts: UInt64_2, columns: Int64, points: float, scores: Float64, shares: Float64_2, fewest: UInt8
):
    """Add the points of a set of columns to the rows that have it as a minimal unique.

    Args:
        singled: bits of the rows that the set singles out; parts: (parts, words) the same of sets with a column less.
        scores: (combinations,); shares: (combinations, columns) the points of each column; fewest: (combinations,)
            the number of columns of a row's smallest minimal unique, where larger sets come first.

    Returns:
        How many rows there are.
    """
    uniques = 0
    for word in range(len(singled)):
        bits = singled[word]
        for part in range(len(parts)):
            bits &= ~parts[part, word]
        row = word * 64
        while bits:
            if bits & _ONE:
                uniques += 1
                scores[row] += points
                fewest[row] = len(columns)
                for column in columns:
                    shares[row, column] += points
            bits >>= _ONE
            row += 1
    return uniques


# Distances and weights that differ by less are treated as equal.
CLOSE = 1e-12


@compiled
def same(records, one, other):
    """Whether two records are equal."""
    column = 0
    while column < records.shape[1] and records[one, column] == records[other, column]:
        column += 1
    return column == records.shape[1]


@compiled
def equal_records(records: Float64_2, chosen: Int64, equals: Int64):
    """How many records equal each chosen one, itself included."""
    for place in range(len(chosen)):
        count = 0
        for other in range(len(records)):
            count += same(records, chosen[place], other)
        equals[place] = count


@compiled
def link_nearest(raw: Float64_2, published: Float64_2, chosen: Int64, own: Float64, places: Int64, others: Int64):
    """Link each chosen record with the nearest published one."""
    for place in range(len(chosen)):
        one = chosen[place]
        least, ties, mine, best, second, without = np.inf, 0, np.inf, -1, np.inf, -1
        for other in range(len(published)):
            total = 0.0
            for column in range(raw.shape[1]):
                gap = raw[one, column] - published[other, column]
                total += gap * gap
                if total > second + CLOSE:  # whatever the other columns hold
                    break
            if other == one:
                mine = total
            if total < least - CLOSE:
                least, ties, best = total, 1, other
            elif total <= least + CLOSE:
                ties += 1
            if total < second - CLOSE and not same(published, one, other):
                second, without = total, other
        own[place] = 1.0 / ties if mine <= least + CLOSE else 0.0
        places[place], others[place] = best, without


@compiled
def agreement(raw: Float64_2, published: Float64_2, near: Float64, chosen: Int64, others: Int64, agree: Float64):
    """Count for each column the pairs of chosen records and others that agree, i.e. differ by at most `near`."""
    agree[:] = 0
    for place in range(len(chosen)):
        for column in range(raw.shape[1]):
            gap = abs(raw[chosen[place], column] - published[others[place], column])
            agree[column] += gap <= near[column]


@compiled
def link_heaviest(
    raw: Float64_2,
    published: Float64_2,
    near: Float64,
    weights: Float64_2,
    chosen: Int64,
    own: Float64,
    places: Int64,
    others: Int64,
):
    """Link each chosen record with the published one of the largest weight.

    weights: (columns, 3) of disagreement, of agreement, and the maximum that all later columns can add.
    """
    for place in range(len(chosen)):
        one = chosen[place]
        most, ties, mine, best, second, without = -np.inf, 0, -np.inf, -1, -np.inf, -1
        for other in range(len(published)):
            weight = 0.0
            for column in range(raw.shape[1]):
                agrees = abs(raw[one, column] - published[other, column]) <= near[column]
                weight += weights[column, 1] if agrees else weights[column, 0]
                if weight + weights[column, 2] < second - CLOSE:  # whatever the other columns hold
                    weight += weights[column, 2]
                    break
            if other == one:
                mine = weight
            if weight > most + CLOSE:
                most, ties, best = weight, 1, other
            elif weight >= most - CLOSE:
                ties += 1
            if weight > second + CLOSE and not same(published, one, other):
                second, without = weight, other
        own[place] = 1.0 / ties if mine >= most - CLOSE else 0.0
        places[place], others[place] = best, without


@compiled
def count_labels(labels: Int64, values: Int64, others: Int64, many: int, weights: Float64, rows: Float64_2):
    """How much each label occurs with each pair of values.

    Args:
        labels, values, others, weights: one each for every combination; many: how many other values there are.
        rows: (labels, values x others), 0 to begin with.
    """
    for place in range(len(labels)):
        rows[labels[place], values[place] * many + others[place]] += weights[place]


@compiled
def count_values(
    labels: Int64, asked: Bool, values: Int64, others: Int64, share: Float64, weights: Float64, rows: Float64
):
    """How many rows of each value have some labels; of the rows with each other value a share is counted.

    Args:
        labels, values, others, weights: one each for every combination.
        asked: (labels,) which labels count; share: (others,).
        rows: (values,), 0 to begin with.
    """
    for place in range(len(labels)):
        if asked[labels[place]]:
            rows[values[place]] += weights[place] * share[others[place]]


@compiled
def most_frequent(
    rows: Float64_2,
    inner: Int64,
    ends: Int64,
    total: Float64_2,
    most: Float64_2,
    second: Float64_2,
    hits: Float64,
    guesses: Float64,
):
    """For each coarse label and value: the rows with finer labels, with the most frequent of them, and with the next.

    Args:
        rows: (labels, values), how much each label occurs with each value.
        inner: the finer labels of each coarse one, one after the other; ends: where those of each end.
        total, most, second: (coarse labels, values), 0 to begin with.
        hits, guesses: (coarse labels,), 0 to begin with: how many guesses by the others are right, and how many there
            are; a tie is half a guess.
    """
    begin = 0
    for at in range(len(ends)):
        for place in range(begin, ends[at]):
            line = inner[place]
            for value in range(rows.shape[1]):
                number = rows[line, value]
                total[at, value] += number
                if number > most[at, value]:
                    second[at, value] = most[at, value]
                    most[at, value] = number
                elif number > second[at, value]:
                    second[at, value] = number
        begin = ends[at]
        for value in range(rows.shape[1]):
            if total[at, value] >= 2.0:
                guesses[at] += total[at, value]
                first, next_ = most[at, value], second[at, value]
                if first - 1.0 > next_ or (next_ == 0.0 and first >= 2.0):
                    hits[at] += first
                elif first - 1.0 == next_ and next_ > 0.0:
                    hits[at] += 0.5 * first
