"""Compiled loops of the models: the largest part of a class that satisfies a model.

A histogram has n classes in compressed rows: class i holds values[starts[i]:starts[i+1]], each counts[...] times.
Every kernel writes, for the classes marked in `failing` (n,), how many rows of the class can be kept at most into `out`
(n,), which holds their sizes before; it stops once more than `enough` rows are lost.
"""

# mypy: ignore-errors
# numba infers the types of compiled loops.

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def capped(starts, values, counts, caps, failing, enough, out):
    """The largest m for which sum_s min(c_s, caps_s m) >= m: no value may have a greater share than its cap.

    The sum less m is concave in m and zero at m = 0, so halving finds the last m. caps: (values,).
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


@njit(cache=True, nogil=True)
def recursive(starts, counts, least, c, failing, enough, out):
    """The largest part with r1 < c (r_l + ... + r_m): counts cut off at some height, found by halving."""
    lost = 0
    for one in np.flatnonzero(failing):
        if lost > enough:
            break
        sorted_counts = np.sort(counts[starts[one] : starts[one + 1]])[::-1]
        low, high = 0, sorted_counts[0] if len(sorted_counts) else 0
        while low < high:
            middle = (low + high + 1) // 2
            tail = 0
            for place in range(least - 1, len(sorted_counts)):
                tail += min(sorted_counts[place], middle)
            if middle < c * tail + 1e-9:
                low = middle
            else:
                high = middle - 1
        kept = 0
        for place in range(len(sorted_counts)):
            kept += min(sorted_counts[place], low)
        lost += out[one] - kept
        out[one] = kept


@njit(cache=True, nogil=True)
def entropy(starts, counts, least, failing, enough, out):
    """The largest part whose entropy is at least log(least): counts cut off at some height, found by halving."""
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


@njit(cache=True, nogil=True)
def _cut_entropy(counts, begin, end, height):
    total = 0.0
    for entry in range(begin, end):
        total += min(float(counts[entry]), height)
    nats = 0.0
    for entry in range(begin, end):
        share = min(float(counts[entry]), height) / total
        nats -= share * np.log(share)
    return nats


@njit(cache=True, nogil=True)
def entropies(starts, counts, out):
    """The entropy of each class in nats."""
    for one in range(len(starts) - 1):
        out[one] = _cut_entropy(counts, starts[one], starts[one + 1], np.inf)


@njit(cache=True, nogil=True)
def recursive_holds(starts, counts, least, c, out):
    """Whether r1 < c (r_l + ... + r_m) in each class, with counts r sorted from the most frequent down."""
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


@njit(cache=True, nogil=True)
def _insert(top, count):
    """Put a count among the largest, which stand from the largest down."""
    place = len(top) - 1
    if count <= top[place]:
        return
    while place > 0 and top[place - 1] < count:
        top[place] = top[place - 1]
        place -= 1
    top[place] = count


@njit(cache=True, nogil=True)
def highest_ratio(starts, values, counts, sizes, reference, out):
    """For each class, the greatest of share / reference over the values it holds. reference: (values,) positive."""
    for one in range(len(starts) - 1):
        highest = 0.0
        for entry in range(starts[one], starts[one + 1]):
            highest = max(highest, counts[entry] / sizes[one] / reference[values[entry]])
        out[one] = highest


@njit(cache=True, nogil=True)
def lowest_ratio(starts, values, counts, sizes, reference, present, out):
    """For each class, the least of share / reference over all values that stand in the table (0 if one is absent).

    present: how many values stand in the whole table.
    """
    for one in range(len(starts) - 1):
        if starts[one + 1] - starts[one] < present:
            out[one] = 0.0
            continue
        lowest = np.inf
        for entry in range(starts[one], starts[one + 1]):
            lowest = min(lowest, counts[entry] / sizes[one] / reference[values[entry]])
        out[one] = lowest
