"""Compiled loops of Mondrian that choose where to cut a class.

Shapes as in kernels.py. The result of a kernel for a class depends on that class alone.
"""

import numpy as np

from sfumato.microdata.methods.mondrian.kernels import (
    LOSS,
    NUMBERS,
    RANDOM,
    RELAXED,
    SET,
    STRICT,
    TREE,
    measure,
    mixed,
    spectrum,
    width,
)
from sfumato.native.dispatch import compiled

_WORD = 64
_LARGEST = np.iinfo(np.int64).max
# Cuts of classes below so many times k are skipped at random, if requested.
_SPARED = 4
# A loss that is smaller by rounding errors alone is not smaller.
_LESS = 1.0 - 1e-9


@compiled
def ranked(widths, choice, path, order):
    """List the columns in which a class may be cut, in the order of trial; return their number."""
    count = 0
    keys = np.empty(len(widths))
    for column in range(len(widths)):
        if widths[column] > 0.0:
            key = widths[column]
            if choice == RANDOM:
                key = float(mixed(path, column + 2) >> np.uint64(11))
            insert(keys, order, count, key, column)
            count += 1
    return count


@compiled
def insert(keys, order, count, key, column):
    """Insert a column among `count` others, sorted by decreasing key."""
    at = count
    while at > 0 and keys[at - 1] < key:
        keys[at], order[at] = keys[at - 1], order[at - 1]
        at -= 1
    keys[at], order[at] = key, column


@compiled
def narrowed(axes, column, count, left, right, scratch):
    """Return how many sides of a cut are narrower than the full spectrum of `count` values: none, one or both.

    Args:
        left, right: Positions in the spectrum of the last value of the left side and the first of the right one.
    """
    values = scratch.values
    whole = width(axes, column, values[0], values[count - 1], count)
    sides = 0
    if width(axes, column, values[0], values[left], left + 1) < whole:
        sides += 1
    if width(axes, column, values[right], values[count - 1], count - right) < whole:
        sides += 1
    return sides


@compiled
def even_cut(axes, column, count, rows, k, scratch):
    """Return the cut of a spectrum nearest to its middle that narrows a side: position, rows left, and sides narrowed.

    The position is -1 if no cut leaves k rows on each side. Numbers are cut at their lower median or not at all;
    categories at the border nearest to the middle, those of a tree between the branches that meet in their lowest
    common ancestor.
    """
    values, amounts = scratch.values, scratch.amounts
    numeric = axes.kinds[column] == NUMBERS
    level = branches(axes, column, values[0], values[count - 1])
    left, best, place, best_left, best_sides = 0, rows + 1, -1, 0, 0
    for at in range(count - 1):
        left += amounts[at]
        apart = abs(2 * left - rows)
        median = 2 * left >= rows
        border = axes.labels[level + values[at]] != axes.labels[level + values[at + 1]]
        if left >= k and rows - left >= k and border and apart < best and (median or not numeric):
            sides = narrowed(axes, column, count, at, at + 1, scratch)
            if sides:
                best, place, best_left, best_sides = apart, values[at], left, sides
        if median and numeric:
            break
    return place, best_left, best_sides


@compiled
def branches(axes, column, low, high):
    """Return where the labels of the level just below the lowest common ancestor of two positions begin."""
    at = axes.steps[column]
    if axes.kinds[column] != TREE:
        return at
    size = axes.sizes[column]
    while axes.labels[at + size + low] != axes.labels[at + size + high]:
        at += size
    return at


@compiled
def loss_cut(axes, column, count, rows, k, scratch):
    """Return the cut of a spectrum with k rows on both sides that lowers the loss most: position, rows left, gain."""
    values, amounts = scratch.values, scratch.amounts
    whole = width(axes, column, values[0], values[count - 1], count)
    best, place, best_left = -1.0, -1, 0
    left = 0
    for at in range(count - 1):
        left += amounts[at]
        if left < k:
            continue
        if rows - left < k:
            break
        lost = left * width(axes, column, values[0], values[at], at + 1)
        lost += (rows - left) * width(axes, column, values[at + 1], values[count - 1], count - at - 1)
        gain = (rows * whole - lost) * axes.weights[column]
        if gain > best:
            best, place, best_left = gain, values[at], left
    return place, best_left, best


@compiled
def ones(mask):
    """Return how many bits of a word are set."""
    bits = 0
    while mask:
        mask &= mask - np.uint64(1)
        bits += 1
    return bits


@compiled
def loss_after(places, counts, begin, end, axes, column, place, scratch, lows, highs, distinct, masks):
    """Return the joint loss of both parts of a class after a cut; lows, highs, distinct, masks are (2, m).

    The values of a column of sets are collected in one word if they fit, and marked with stamps if not.
    """
    columns = places.shape[1]
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    rows = np.zeros(2, np.int64)
    lows[:] = _LARGEST
    highs[:] = -1
    distinct[:] = 0
    masks[:] = 0
    for item in range(begin, end):
        side = 0 if places[item, column] <= place else 1
        rows[side] += counts[item]
        for other in range(columns):
            at = places[item, other]
            if axes.kinds[other] == SET:
                if axes.sizes[other] <= _WORD:
                    masks[side, other] |= np.uint64(1) << np.uint64(at)
                    continue
                if scratch.stamps[side, axes.begins[other] + at] != stamp:
                    scratch.stamps[side, axes.begins[other] + at] = stamp
                    distinct[side, other] += 1
            lows[side, other] = min(lows[side, other], at)
            highs[side, other] = max(highs[side, other], at)
    lost = 0.0
    for side in range(2):
        for other in range(columns):
            if masks[side, other]:
                distinct[side, other] = ones(masks[side, other])
                lows[side, other], highs[side, other] = spread(masks[side, other], axes.missing[other])
            share = width(axes, other, lows[side, other], highs[side, other], distinct[side, other])
            lost += rows[side] * share * axes.weights[other]
    return lost


@compiled
def spread(mask, missing):
    """Return the range of a set as `width` needs it: whether it is one value, or contains the missing value.

    The missing value stands last.
    """
    several = mask & (mask - np.uint64(1))
    if not several:
        return 0, 0
    holds = missing >= 0 and (mask >> np.uint64(missing)) & np.uint64(1)
    return -2, missing if holds else -3


@compiled
def relaxed_cut(places, counts, begin, end, axes, column, count, rows, k, mode, scratch):
    """Return the median of a spectrum, the rows that go left for the most equal sides, and the sides narrowed.

    Rows of one item may be divided in mode RELAXED; else the item with the median goes to the larger side.
    Categories are cut strictly if that narrows more sides.
    """
    half = (rows + 1) // 2
    below, at = 0, 0
    while below + scratch.amounts[at] < half:
        below += scratch.amounts[at]
        at += 1
    place, left = scratch.values[at], half
    if mode != RELAXED:
        left = below
        for item in range(begin, end):
            if places[item, column] == place:
                if left + counts[item] - half > half - left:
                    break
                left += counts[item]
    last = at if left > below else max(at - 1, 0)
    first = at if left < below + scratch.amounts[at] else min(at + 1, count - 1)
    sides = narrowed(axes, column, count, last, first, scratch)
    if sides < 2 and axes.kinds[column] != NUMBERS:
        strict = even_cut(axes, column, count, rows, k, scratch)
        if strict[2] > sides:
            return strict
    return place, left, sides


@compiled
def by_gain(places, counts, begin, end, rows, k, axes, scratch, lows, highs, widths, order, cuts, lefts):
    """List the columns in which a cut lowers the loss, the largest gain first, with their cuts; return their number."""
    columns = len(widths)
    sides = np.empty((3, 2, columns), np.int64)
    masks = np.empty((2, columns), np.uint64)
    gains = np.empty(columns)
    count, whole = 0, 0.0
    for column in range(columns):
        whole += rows * widths[column] * axes.weights[column]
    for column in range(columns):
        if widths[column] <= 0.0:
            continue
        values = spectrum(places, counts, begin, end, column, lows[column], highs[column], scratch)
        place, left, _ = loss_cut(axes, column, values, rows, k, scratch)
        if place < 0:
            continue
        cuts[column], lefts[column] = place, left
        sets = (sides[0], sides[1], sides[2], masks)
        lost = loss_after(places, counts, begin, end, axes, column, place, scratch, *sets)
        if lost >= whole * _LESS:
            continue
        insert(gains, order, count, -lost, column)
        count += 1
    return count


@compiled
def choose(places, counts, begin, end, path, tried, k, axes, choice, mode, spare, scratch):
    """Return the next cut of a class after some failed columns: column (or -1), position, rows left, columns tried.

    Args:
        spare: Probability, in 2^-64, that a small class is not cut though it could be; drawn from its path.
    """
    columns = places.shape[1]
    lows, highs = np.empty(columns, np.int64), np.empty(columns, np.int64)
    widths, order = np.empty(columns), np.empty(columns, np.int64)
    rows = measure(places, counts, begin, end, axes, scratch, lows, highs, widths)
    if rows < 2 * k or (rows < _SPARED * k and mixed(path, _SPARED) < spare):
        return -1, 0, 0, columns
    cuts, lefts = np.empty(columns, np.int64), np.empty(columns, np.int64)
    if choice == LOSS:
        count_by_gain = by_gain(
            places, counts, begin, end, rows, k, axes, scratch, lows, highs, widths, order, cuts, lefts
        )
        if tried >= count_by_gain:
            return -1, 0, 0, columns
        return order[tried], cuts[order[tried]], lefts[order[tried]], tried + 1
    candidates = ranked(widths, choice, path, order)
    passed, one_sided = 0, 0
    for at in range(candidates):
        column = order[at]
        count = spectrum(places, counts, begin, end, column, lows[column], highs[column], scratch)
        if mode == STRICT:
            place, left, sides = even_cut(axes, column, count, rows, k, scratch)
        else:
            place, left, sides = relaxed_cut(places, counts, begin, end, axes, column, count, rows, k, mode, scratch)
        if place < 0 or sides == 0 or left < k or rows - left < k:
            continue
        if sides == 2:
            if passed == tried:
                return column, place, left, tried + 1
            passed += 1
        else:
            # A cut that narrows one side only lowers the loss little: it waits until no other is left.
            cuts[column], lefts[column], order[one_sided] = place, left, column
            one_sided += 1
    if tried - passed < one_sided:
        column = order[tried - passed]
        return column, cuts[column], lefts[column], tried + 1
    return -1, 0, 0, columns
