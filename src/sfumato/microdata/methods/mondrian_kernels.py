"""Compiled loops of Mondrian: measuring a class, choosing a cut, and dividing combinations in place.

Shapes: n items (combinations, or pieces of them) of m columns; `places` is (n, m), for each item and column the place
of its value in the column's order. A class is a run of items `begin:end`; dividing one moves its items, so that the
left part stands before the right one and each part keeps its order. All kernels release the interpreter's lock, and
what they answer for a class depends on that class alone, so classes may be divided in any order and by several threads.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

NUMBERS, TREE, SET = 0, 1, 2
WIDEST, RANDOM, LOSS = 0, 1, 2
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_TWO = np.uint64(0xBF58476D1CE4E5B9)
_BITS = 32
_LOW = (1 << _BITS) - 1
# A column whose places spread wider than this many times the class is sorted instead of counted.
_SPARSE = 8
_DEPTH = 128


class Axes(NamedTuple):
    """The columns' orders, as arrays.

    kinds: (m,) NUMBERS, TREE or SET; sizes: (m,) places of each column; begins: (m,) where its places begin in
    `positions`; positions: the number at each place (infinite for missing); scales: (m,) 1 / range over the file, or
    1 / (values - 1); missing: (m,) the place of the missing value, or -1; steps: (m,) where each column's levels begin
    in `labels` and `costs`, level by level, place by place: its label, and what that label loses; weights: (m,) of each
    column in the loss.
    """

    kinds: np.ndarray
    sizes: np.ndarray
    begins: np.ndarray
    positions: np.ndarray
    scales: np.ndarray
    missing: np.ndarray
    steps: np.ndarray
    labels: np.ndarray
    costs: np.ndarray
    weights: np.ndarray


class Scratch(NamedTuple):
    """Room for one thread: hist (largest column,) zeros; keys, values, amounts (n,) ; then room for moved items."""

    hist: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    amounts: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    ids: np.ndarray


@njit(cache=True, nogil=True)
def width(axes, column, low, high, distinct):
    """The share of a column that a class covers, from its lowest and highest place and its number of values."""
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


@njit(cache=True, nogil=True)
def extremes(places, begin, end, lows, highs):
    """The lowest and highest place of a class in each column."""
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


@njit(cache=True, nogil=True)
def spectrum(places, counts, begin, end, column, low, high, scratch):
    """The values of a class in a column, ascending, and the rows of each, into scratch; the answer is their number."""
    values, amounts = scratch.values, scratch.amounts
    found = 0
    if high - low <= _SPARSE * (end - begin):
        hist = scratch.hist
        for item in range(begin, end):
            hist[places[item, column]] += counts[item]
        for place in range(low, high + 1):
            if hist[place]:
                values[found] = place
                amounts[found] = hist[place]
                hist[place] = 0
                found += 1
        return found
    keys = scratch.keys[: end - begin]
    for item in range(begin, end):
        keys[item - begin] = (np.int64(places[item, column]) << _BITS) | (item - begin)
    keys.sort()
    for key in keys:
        place = key >> _BITS
        if not found or values[found - 1] != place:
            values[found] = place
            amounts[found] = 0
            found += 1
        amounts[found - 1] += counts[begin + (key & _LOW)]
    return found


@njit(cache=True, nogil=True)
def mixed(path, side):
    """The name of a part of a class: from the name of the class and its side."""
    word = (path ^ np.uint64(side + 1)) * _MIX
    word ^= word >> np.uint64(29)
    word *= _MIX_TWO
    return word ^ (word >> np.uint64(32))


@njit(cache=True, nogil=True)
def measure(places, counts, begin, end, axes, scratch, lows, highs, widths):
    """The extremes and widths of a class; the answer is its rows."""
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


@njit(cache=True, nogil=True)
def ranked(widths, choice, path, order):
    """The columns in which a class may be cut, in the order in which they are tried; the answer is their number."""
    found = 0
    keys = np.empty(len(widths))
    for column in range(len(widths)):
        if widths[column] > 0.0:
            key = widths[column]
            if choice == RANDOM:
                key = float(mixed(path, column + 2) >> np.uint64(11))
            at = found
            while at > 0 and keys[at - 1] < key:
                keys[at] = keys[at - 1]
                order[at] = order[at - 1]
                at -= 1
            keys[at] = key
            order[at] = column
            found += 1
    return found


@njit(cache=True, nogil=True)
def median_cut(found, rows, scratch):
    """The lower median of a spectrum, and the rows up to it."""
    left = 0
    for at in range(found):
        left += scratch.amounts[at]
        if 2 * left >= rows:
            return scratch.values[at], left
    return scratch.values[found - 1], left


@njit(cache=True, nogil=True)
def loss_cut(axes, column, found, rows, k, scratch):
    """The cut of a spectrum that lowers the column's loss most, both sides having k rows: place, rows left, gain."""
    values, amounts = scratch.values, scratch.amounts
    whole = width(axes, column, values[0], values[found - 1], found)
    best, place, best_left = -1.0, -1, 0
    left = 0
    for at in range(found - 1):
        left += amounts[at]
        if left < k:
            continue
        if rows - left < k:
            break
        lost = left * width(axes, column, values[0], values[at], at + 1)
        lost += (rows - left) * width(axes, column, values[at + 1], values[found - 1], found - at - 1)
        gain = (rows * whole - lost) * axes.weights[column]
        if gain > best:
            best, place, best_left = gain, values[at], left
    return place, best_left, best


@njit(cache=True, nogil=True)
def part(places, counts, ids, begin, end, column, place, scratch):
    """Move the items of a class with a higher place behind the others; the answer is where they begin."""
    at, moved = begin, 0
    columns = places.shape[1]
    for item in range(begin, end):
        if places[item, column] <= place:
            if at != item:
                for other in range(columns):
                    places[at, other] = places[item, other]
                counts[at] = counts[item]
                ids[at] = ids[item]
            at += 1
        else:
            for other in range(columns):
                scratch.places[moved, other] = places[item, other]
            scratch.counts[moved] = counts[item]
            scratch.ids[moved] = ids[item]
            moved += 1
    for item in range(moved):
        for other in range(columns):
            places[at + item, other] = scratch.places[item, other]
        counts[at + item] = scratch.counts[item]
        ids[at + item] = scratch.ids[item]
    return at
