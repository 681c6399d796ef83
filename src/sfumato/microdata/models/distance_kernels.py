"""Compiled loops of t-closeness (distances of classes to the reference table) and of the individual risk."""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Float64_2, Int32, Int32_2, Int64
from sfumato.native.dispatch import compiled

# A class with at least one in so many values is processed step by step.
_DENSE = 8
# Ranks and entries share a word.
_HALF = 32
_LOW = 0xFFFFFFFF
# Sums of shares that differ by less are equal.
_EQUAL = 1e-9


@compiled
def tree_distances(
    starts: Int64,
    values: Int32,
    counts: Int64,
    sizes: Int64,
    asked: Bool,
    labels: Int32_2,
    shares: Float64_2,
    out: Float64,
):
    """Compute the mean over levels of the total variation between class and table, for the requested classes.

    A histogram has n classes in compressed rows: class i holds values[starts[i]:starts[i+1]], each counts[...] times. A
    tree of values is given by levels: labels (levels, values) is each value's label at a level below the root, shares
    (levels, labels) the share of each label in the reference table.

    If persons have several values, the shares of class and table add up to different sums. The difference is moved from
    no value at all, a label of its own at every level and on both sides of every step.

    Only the labels of a class are visited: the total variation is the sum of what exceeds the table's share, or
    if the class has a smaller total, of what falls short of it.
    """
    levels = len(labels)
    tally = np.zeros(shares.shape[1])
    table = 0.0
    for label in range(shares.shape[1]):
        table += shares[0, label]
    for one in range(len(starts) - 1):
        if not asked[one]:
            continue
        distance = levels * max(-_more(starts[one], starts[one + 1], counts, sizes[one], table), 0.0)
        for level in range(levels):
            distance += _excess(
                starts[one], starts[one + 1], values, counts, sizes[one], labels[level], shares[level], tally
            )
        out[one] = distance / max(levels, 1)


@compiled
def _more(begin, end, counts, size, table):
    """Return by how much the sum of a class's shares exceeds that of the table; exactly 0 if they do not differ."""
    total = 0
    for entry in range(begin, end):
        total += counts[entry]
    more = total / size - table
    return more if abs(more) > _EQUAL else 0.0


@compiled
def _excess(begin, end, values, counts, size, labels, shares, tally):
    """Return the sum over labels of (q - p) if positive; q is the share among `size` rows. tally stays zero."""
    for entry in range(begin, end):
        tally[labels[values[entry]]] += counts[entry]
    excess = 0.0
    for entry in range(begin, end):
        label = labels[values[entry]]
        excess += max(tally[label] / size - shares[label], 0.0)
        tally[label] = 0.0
    return excess


@compiled
def tree_kept(
    starts: Int64,
    values: Int32,
    counts: Int64,
    sizes: Int64,
    labels: Int32_2,
    shares: Float64_2,
    most: float,
    failing: Bool,
    enough: int,
    out: Int64,
):
    """Compute for failing classes the largest m for which a part of m rows may be as near as `most`.

    A part of m rows has at most the class's own rows of each label, so at each level the total variation is at least
    1 - sum min(c/m, p). That increases with m: bisection finds the last m. Stops once more than `enough` rows are lost.
    """
    levels = len(labels)
    tally = np.zeros(shares.shape[1])
    rows, parts = np.empty(labels.size), np.empty(labels.size)
    lost = 0
    for one in np.flatnonzero(failing):
        if lost > enough:
            break
        size = 0
        for level in range(levels):
            size = _gather(
                starts[one], starts[one + 1], values, counts, labels[level], shares[level], tally, rows, parts, size
            )
        low, high = 0, sizes[one]
        while low < high:
            middle = (low + high + 1) // 2
            near = 0.0
            for place in range(size):
                near += min(rows[place] / middle, parts[place])
            if levels - near <= most * levels:
                low = middle
            else:
                high = middle - 1
        lost += out[one] - low
        out[one] = low


@compiled
def _gather(begin, end, values, counts, labels, shares, tally, rows, parts, size):
    """Append the rows of each label of a class, and its share in the table; tally stays zero."""
    for entry in range(begin, end):
        tally[labels[values[entry]]] += counts[entry]
    for entry in range(begin, end):
        label = labels[values[entry]]
        if tally[label] > 0:
            rows[size], parts[size] = tally[label], shares[label]
            tally[label] = 0.0
            size += 1
    return size


@compiled
def order_distances(
    starts: Int64,
    values: Int32,
    counts: Int64,
    sizes: Int64,
    asked: Bool,
    ranks: Int64,
    below: Float64,
    sums: Float64,
    out: Float64,
):
    """Compute the distance on a line: the mean over steps of |Q - P|, cumulative shares, for the requested classes.

    Where the shares of a class add up to `more` than the table's, it is (|Q - P| + |Q - P - more| + |more|) / 2: the
    total variation among what is up to the step, what is beyond it, and nothing.

    Args:
        ranks: (values,) the place of each value in the order; below: (places,) the table's share up to each place;
        sums: (places + 1,) sums of `below` up to a place, so that a stretch in which the class has nothing is one step.
    """
    steps = len(below) - 1
    running = np.zeros(len(below))
    table = 0.0
    if steps >= 0:
        table = below[steps]
    for one in range(len(starts) - 1):
        if not asked[one]:
            continue
        begin, end = starts[one], starts[one + 1]
        more = _more(begin, end, counts, sizes[one], table)
        if _DENSE * (end - begin) >= steps:
            out[one] = _dense_line(begin, end, values, counts, sizes[one], ranks, below, running, 0.0)
        else:
            out[one] = _sparse_line(begin, end, values, counts, sizes[one], ranks, below, sums)
        if more != 0.0 and steps < 1:
            out[one] = abs(more)
        elif more != 0.0:
            other = _dense_line(begin, end, values, counts, sizes[one], ranks, below, running, more)
            out[one] = (out[one] + other + abs(more)) / 2


@compiled
def _dense_line(begin, end, values, counts, size, ranks, below, running, more):
    """Return the mean of |Q - P - more|, step by step. running stays zero."""
    steps = len(below) - 1
    for entry in range(begin, end):
        running[ranks[values[entry]]] += counts[entry] / size
    share, distance = 0.0, 0.0
    for place in range(steps):
        share += running[place]
        distance += abs(share - below[place] - more)
    for entry in range(begin, end):
        running[ranks[values[entry]]] = 0.0
    return distance / max(steps, 1)


@compiled
def _sparse_line(begin, end, values, counts, size, ranks, below, sums):
    """Return the distance on a line, from value to value: for columns of many values."""
    steps = len(below) - 1
    order = np.empty(end - begin, np.int64)
    for entry in range(begin, end):
        order[entry - begin] = (ranks[values[entry]] << _HALF) | (entry - begin)
    order.sort()
    share, at, distance = 0.0, 0, 0.0
    for key in order:
        distance += _stretch(share, at, key >> _HALF, below, sums)
        share += counts[begin + (key & _LOW)] / size
        at = key >> _HALF
    return (distance + _stretch(share, at, steps, below, sums)) / max(steps, 1)


@compiled
def _stretch(share, begin, end, below, sums):
    """Return the sum of |share - below[i]| for i from begin to end, end excluded; `below` increases."""
    if begin >= end:
        return 0.0
    cut = begin + np.searchsorted(below[begin:end], share)
    under = share * (cut - begin) - (sums[cut] - sums[begin])
    over = (sums[end] - sums[cut]) - share * (end - cut)
    return under + over


@compiled
def order_kept(
    starts: Int64,
    values: Int32,
    counts: Int64,
    sizes: Int64,
    ranks: Int64,
    below: Float64,
    most: float,
    failing: Bool,
    enough: int,
    out: Int64,
):
    """Compute for failing classes the largest m for which a part of m rows may be as near as `most` on a line.

    With C rows of n up to a place, a part of m rows has there a share between 1 - (n - C)/m and C/m.
    """
    steps = len(below) - 1
    running = np.zeros(len(below))
    lost = 0
    for one in np.flatnonzero(failing):
        if lost > enough:
            break
        running[:] = 0.0
        for entry in range(starts[one], starts[one + 1]):
            running[ranks[values[entry]]] += counts[entry]
        for place in range(1, len(below)):
            running[place] += running[place - 1]
        low, high = 0, sizes[one]
        while low < high:
            middle = (low + high + 1) // 2
            distance = 0.0
            for place in range(steps):
                over = below[place] - running[place] / middle
                under = 1.0 - (sizes[one] - running[place]) / middle - below[place]
                distance += max(over, under, 0.0)
            if distance / max(steps, 1) <= most:
                low = middle
            else:
                high = middle - 1
        lost += out[one] - low
        out[one] = low


# Up to this size, and below this share, the recurrence is faster than the series and as accurate.
RECURRING = 40
SMALL_SHARE = 0.4


@compiled
def expectations(rows: Int64, persons: Float64, out: Float64):
    """Compute for each class of `rows` (n,) in the sample with `persons` (n,) the expectation, into `out` (n,)."""
    for one in range(len(rows)):
        out[one] = expectation(rows[one], rows[one] / persons[one])


@compiled
def expectation(rows: int, share: float):
    """Return r(f) for f rows and the share p: the integral from 0 to 1 of u^(f-1) p / (p + (1-p) u).

    For small p by r(1) = p/q ln(1/p), r(f) = p/q (1/(f-1) - r(f-1)), whose errors decrease. Else by the series
    p/f (1 + sum of q^j j! / ((f+1)...(f+j))), all of whose terms are positive.
    """
    if share >= 1.0:
        return 1.0 / rows
    rest = 1.0 - share
    if rows <= RECURRING and share < SMALL_SHARE:
        risk = share / rest * np.log(1.0 / share)
        for size in range(2, int(rows) + 1):
            risk = share / rest * (1.0 / (size - 1) - risk)
        return risk
    term, total, step = 1.0, 1.0, 0
    while term > 1e-17 * total:
        step += 1
        term *= rest * step / (rows + step)
        total += term
    return share / rows * total
