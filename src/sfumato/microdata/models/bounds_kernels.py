"""Compiled loops of the models: the largest part of a class that satisfies a model.

A histogram has n classes in compressed rows: class i holds values[starts[i]:starts[i+1]], each counts[...] times. For
the classes marked in `violating` (n,), every kernel writes the maximum number of rows of the class that can be kept to
`out` (n,), which holds the class sizes before; it stops once more than `enough` rows are lost.
"""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Int32, Int64
from sfumato.native.dispatch import compiled


@compiled
def capped(starts: Int64, values: Int32, counts: Int64, caps: Float64, failing: Bool, enough: int, out: Int64):
    """Compute the largest m for which sum_s min(c_s, caps_s m) >= m: no value may have a larger share than its cap.

    The sum minus m is concave in m and zero at m = 0, so bisection finds the last m. caps: (values,).
    """
    lost = 0
    for one in np.flatnonzero(failing):
        if lost > enough:
            break
        low, high = 0, 0
        for entry in range(starts[one], starts[one + 1]):
            high += counts[entry]
        while low < high:
            middle = (low + high + 1) // 2
            room = 0.0
            for entry in range(starts[one], starts[one + 1]):
                room += min(float(counts[entry]), caps[values[entry]] * middle)
            if room >= middle - 1e-6:
                low = middle
            else:
                high = middle - 1
        lost += out[one] - low
        out[one] = low


@compiled
def recursive(starts: Int64, counts: Int64, least: int, c: float, failing: Bool, enough: int, out: Int64):
    """Compute the largest part with r1 < c (r_l + ... + r_m): counts cut off at some height, found by bisection."""
    lost = 0
    for one in np.flatnonzero(failing):
        if lost > enough:
            break
        ascending = np.sort(counts[starts[one] : starts[one + 1]])
        low, high = 0, ascending[-1] if len(ascending) else 0
        while low < high:
            middle = (low + high + 1) // 2
            tail = 0
            for place in range(len(ascending) - least + 1):
                tail += min(ascending[place], middle)
            if middle < c * tail + 1e-9:
                low = middle
            else:
                high = middle - 1
        kept = 0
        for place in range(len(ascending)):
            kept += min(ascending[place], low)
        lost += out[one] - kept
        out[one] = kept


@compiled
def entropy(starts: Int64, counts: Int64, least: float, failing: Bool, enough: int, out: Int64):
    """Compute the largest part with entropy at least log(least): counts cut off at some height, found by bisection."""
    wanted = np.log(least) - 1e-9
    lost = 0
    for one in np.flatnonzero(failing):
        begin, end = starts[one], starts[one + 1]
        if lost > enough:
            break
        if end - begin < least - 1e-9:
            lost += out[one]
            out[one] = 0
            continue
        low, high = 0.0, 0.0
        for entry in range(begin, end):
            high = max(high, float(counts[entry]))
        for _ in range(16):
            middle = (low + high) / 2
            if _cut_entropy(counts, begin, end, middle) >= wanted:
                low = middle
            else:
                high = middle
        kept = 0.0
        for entry in range(begin, end):
            kept += min(float(counts[entry]), high)
        lost += out[one] - int(kept + 1e-6)
        out[one] = int(kept + 1e-6)


@compiled
def _cut_entropy(counts, begin, end, height):
    total = 0.0
    for entry in range(begin, end):
        total += min(float(counts[entry]), height)
    nats = 0.0
    for entry in range(begin, end):
        share = min(float(counts[entry]), height) / total
        nats -= share * np.log(share)
    return nats


@compiled
def entropies(starts: Int64, counts: Int64, out: Float64):
    """The entropy of each class in nats."""
    for one in range(len(starts) - 1):
        out[one] = _cut_entropy(counts, starts[one], starts[one + 1], np.inf)


@compiled
def recursive_holds(starts: Int64, counts: Int64, least: int, c: float, out: Bool):
    """Compute whether r1 < c (r_l + ... + r_m) in each class, with counts r in decreasing order."""
    top = np.zeros(max(least - 1, 1), np.int64)
    for one in range(len(starts) - 1):
        begin, end = starts[one], starts[one + 1]
        total = 0
        top[:] = 0
        for entry in range(begin, end):
            total += counts[entry]
            _insert(top, counts[entry])
        first = top[0]
        for place in range(least - 1):
            total -= top[place]
        out[one] = first < c * total - 1e-9


@compiled
def _insert(top, count):
    """Insert a count among the largest ones, in decreasing order."""
    place = len(top) - 1
    if count <= top[place]:
        return
    while place > 0 and top[place - 1] < count:
        top[place] = top[place - 1]
        place -= 1
    top[place] = count


@compiled
def highest_ratio(starts: Int64, values: Int32, counts: Int64, sizes: Int64, reference: Float64, out: Float64):
    """Compute for each class the maximum of share / reference over its values. reference: (values,) positive."""
    for one in range(len(starts) - 1):
        highest = 0.0
        for entry in range(starts[one], starts[one + 1]):
            highest = max(highest, counts[entry] / sizes[one] / reference[values[entry]])
        out[one] = highest


@compiled
def lowest_ratio(
    starts: Int64, values: Int32, counts: Int64, sizes: Int64, reference: Float64, present: int, out: Float64
):
    """Compute for each class the minimum of share / reference over all values of the table (0 if one is absent).

    present: how many values occur in the full table.
    """
    for one in range(len(starts) - 1):
        if starts[one + 1] - starts[one] < present:
            out[one] = 0.0
            continue
        lowest = np.inf
        for entry in range(starts[one], starts[one + 1]):
            lowest = min(lowest, counts[entry] / sizes[one] / reference[values[entry]])
        out[one] = lowest
