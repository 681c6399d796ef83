"""Compiled loops of Mondrian that measure a class.

Shapes: n items (combinations, or parts of them) of m columns; `places` is (n, m), for each item and column the rank of
its value in the column's order; `counts` is (n,), the rows of each. A class is a run of items `begin:end`. The result
of a kernel for a class depends on that class alone.
"""

from typing import NamedTuple

import numpy as np

from sfumato.native.array_types import Float64, Int32, Int32_2, Int64, Int64_2
from sfumato.native.dispatch import compiled

NUMBERS, TREE, SET = 0, 1, 2
WIDEST, RANDOM, LOSS = 0, 1, 2
STRICT, RELAXED, UNDIVIDED = 0, 1, 2
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_TWO = np.uint64(0xBF58476D1CE4E5B9)
_BITS = 32
_LOW = (1 << _BITS) - 1
# A column with a range of positions wider than this many times the class is sorted instead of counted.
_SPARSE = 8


class Axes(NamedTuple):
    """The orders of the columns, as arrays.

    kinds: (m,) NUMBERS, TREE or SET; sizes: (m,) places of each column; begins: (m,) where its places begin in
    `positions`; positions: the number at each place (infinite for missing); scales: (m,) 1 / range over the file, or
    1 / (values - 1); missing: (m,) the place of the missing value, or -1; steps: (m,) where each column's levels begin
    in `labels` and `costs`, level by level, place by place: its label, and what that label loses; weights: (m,) of each
    column in the loss.
    """

    kinds: Int64
    sizes: Int64
    begins: Int64
    positions: Float64
    scales: Float64
    missing: Int64
    steps: Int64
    labels: Int64
    costs: Float64
    weights: Float64


class Buffers(NamedTuple):
    """Buffers of one thread.

    hist: (largest column,) zeros; keys, values, amounts: (n,) of a spectrum; places, counts, ids: room for n moved
    items; stamps: (2, all places) and stamp: (1,) mark the values that a side holds.
    """

    hist: Int64
    keys: Int64
    values: Int32
    amounts: Int64
    places: Int32_2
    counts: Int64
    ids: Int32
    stamps: Int64_2
    stamp: Int64


@compiled
def width(axes, column, low, high, distinct):
    """Return the share of a column that a class covers, from its range of positions and its number of values."""
    if low == high:
        return 0.0
    if axes.kinds[column] == NUMBERS:
        begin = axes.begins[column]
        return min(1.0, (axes.positions[begin + high] - axes.positions[begin + low]) * axes.scales[column])
    if axes.kinds[column] == SET:
        return 1.0 if high == axes.missing[column] else (distinct - 1) * axes.scales[column]
    size = axes.sizes[column]
    at = axes.steps[column]
    while axes.labels[at + low] != axes.labels[at + high]:
        at += size
    return axes.costs[at + low]


@compiled
def extremes(places, begin, end, lows, highs):
    """Compute the lowest and highest position of a class in each column."""
    columns = places.shape[1]
    for column in range(columns):
        lows[column] = places[begin, column]
        highs[column] = places[begin, column]
    for item in range(begin + 1, end):
        for column in range(columns):
            place = places[item, column]
            if place < lows[column]:
                lows[column] = place
            elif place > highs[column]:
                highs[column] = place


@compiled
def spectrum(places, counts, begin, end, column, low, high, scratch):
    """Compute the values of a class in a column, ascending, and the rows of each; return their number."""
    values, amounts = scratch.values, scratch.amounts
    count = 0
    if high - low <= _SPARSE * (end - begin):
        hist = scratch.hist
        for item in range(begin, end):
            hist[places[item, column]] += counts[item]
        for place in range(low, high + 1):
            if hist[place]:
                values[count] = place
                amounts[count] = hist[place]
                hist[place] = 0
                count += 1
        return count
    keys = scratch.keys[: end - begin]
    for item in range(begin, end):
        keys[item - begin] = (np.int64(places[item, column]) << _BITS) | (item - begin)
    keys.sort()
    for key in keys:
        place = key >> _BITS
        if not count or values[count - 1] != place:
            values[count] = place
            amounts[count] = 0
            count += 1
        amounts[count - 1] += counts[begin + (key & _LOW)]
    return count


@compiled
def mixed(path, side):
    """Return the path of a part of a class, from the path of the class and its side."""
    word = (path ^ np.uint64(side + 1)) * _MIX + np.uint64(side)
    word ^= word >> np.uint64(29)
    word *= _MIX_TWO
    return word ^ (word >> np.uint64(32))


@compiled
def measure(places, counts, begin, end, axes, scratch, lows, highs, widths):
    """Compute the extremes and widths of a class; return its rows."""
    extremes(places, begin, end, lows, highs)
    for column in range(len(lows)):
        distinct = 0
        if axes.kinds[column] == SET and lows[column] != highs[column]:
            distinct = spectrum(places, counts, begin, end, column, lows[column], highs[column], scratch)
        widths[column] = width(axes, column, lows[column], highs[column], distinct)
    rows = 0
    for item in range(begin, end):
        rows += counts[item]
    return rows
