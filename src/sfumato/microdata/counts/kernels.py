"""Compiled loops that count classes, compute the loss of suppression, and rule out nodes.

Shapes: a table has n combinations of m columns, packed in w words (see combinations.py); keys are (w, n), so that the
keys of each word are contiguous. All loops release the interpreter lock.
"""

import numpy as np

from sfumato.native.array_types import (
    Bool,
    Bool_2,
    Float64,
    Float64_2,
    Int32,
    Int32_2,
    Int64,
    Int64_2,
    UInt64,
    UInt64_2,
)
from sfumato.native.dispatch import compiled

# Maximum size of a dense table of classes and values, as a multiple of the histogram's entries.
_DENSE = 16


@compiled
def tally(sizes: Int64, failing: Bool):
    """Return rows in failing classes; number, smallest and largest of the others; smallest and largest of all."""
    suppressed, kept, smallest, largest = 0, 0, 0, 0
    least, most = sizes[0], sizes[0]
    for row in range(len(sizes)):
        size = sizes[row]
        least, most = min(least, size), max(most, size)
        if failing[row]:
            suppressed += size
        else:
            kept += 1
            largest = max(largest, size)
            smallest = size if kept == 1 else min(smallest, size)
    return suppressed, kept, smallest, largest, least, most


@compiled
def surcharges(
    keys: UInt64_2,
    sizes: Int64,
    failing: Bool,
    word: Int64,
    shift: UInt64,
    mask: UInt64,
    node: Int64,
    charges: Float64,
    offsets: Int64_2,
    constant: Float64_2,
):
    """Return what suppression adds for each column: the sum over failing classes of rows times their label's charge.

    Args:
        keys, sizes: the classes, (w, n) and (n,); failing: (n,) which are suppressed.
        node: (m,) the level of each column; charges, offsets, constant: see `losses.loss.Charges`.
    """
    places = np.flatnonzero(failing)
    rows = 0
    for place in places:
        rows += sizes[place]
    total = np.zeros(len(word))
    for column in range(len(word)):
        same = constant[column, node[column]]
        if same == same:
            total[column] = rows * same
            continue
        lane, by, bits = keys[word[column]], shift[column], mask[column]
        offset = np.uint64(offsets[column, node[column]])
        for place in places:
            total[column] += sizes[place] * charges[offset + ((lane[place] >> by) & bits)]
    return total


@compiled
def rule_out(open_nodes: Bool, floors: Float64, added: Float64, most: float):
    """Close the open nodes whose bound exceeds the largest loss still of interest. All arrays are flat."""
    for place in range(len(open_nodes)):
        if open_nodes[place] and floors[place] + added[place] > most:
            open_nodes[place] = False


@compiled
def pick(open_nodes: Bool, ranks: Float64, where: float):
    """Return the open node whose rank is nearest to a fraction of the way from lowest to highest; -1 if none."""
    low, high = np.inf, -np.inf
    for place in range(len(open_nodes)):
        if open_nodes[place]:
            low, high = min(low, ranks[place]), max(high, ranks[place])
    target = low + (high - low) * where
    best, distance = -1, np.inf
    for place in range(len(open_nodes)):
        if open_nodes[place] and abs(ranks[place] - target) < distance:
            best, distance = place, abs(ranks[place] - target)
    return best


@compiled
def marginal(codes: Int32_2, counts: Int64, column: int, size: int):
    """Rows of each of the `size` values of a column. codes: (n, m) raw combinations; counts: (n,) rows of each."""
    rows = np.zeros(size, np.int64)
    for row in range(len(counts)):
        rows[codes[row, column]] += counts[row]
    return rows


@compiled
def pair_rows(codes: Int32_2, counts: Int64, first: int, second: int, height: int, width: int):
    """Rows of each pair of codes of two columns, (height, width). codes: (n, m); counts: (n,) rows of each."""
    pairs = np.zeros((height, width), np.int64)
    for row in range(len(counts)):
        pairs[codes[row, first], codes[row, second]] += counts[row]
    return pairs


@compiled
def rows_inside(codes: Int32_2, counts: Int64, columns: Int64, sets: Bool_2):
    """Rows whose codes lie in a set in each of some columns.

    Args:
        codes: (n, m) raw combinations; counts: (n,) rows of each.
        columns: (s,) some columns; sets: (s, v) which codes are in the set of each of them.
    """
    rows = 0
    for row in range(len(counts)):
        inside = True
        for place in range(len(columns)):
            inside &= sets[place, codes[row, columns[place]]]
        rows += counts[row] * int(inside)
    return rows


@compiled
def label_rows(
    codes: Int32_2,
    labels: Int32_2,
    combinations: Int64,
    classes: Int64,
    rows: Int64,
    column: int,
    height: int,
    width: int,
):
    """Count rows for each pair of a value and a label of a column, (height, width).

    Args:
        codes: (n, m) raw combinations; labels: (c, m) label codes of classes.
        combinations, classes, rows: (p,) parallel arrays: how many rows of a combination lie in which class.
    """
    pairs = np.zeros((height, width), np.int64)
    for piece in range(len(rows)):
        pairs[codes[combinations[piece], column], labels[classes[piece], column]] += rows[piece]
    return pairs


@compiled
def rare_rows(
    codes: Int32_2, counts: Int64, first: int, second: int, first_levels: Int32_2, second_levels: Int32_2, k: int
):
    """Rows in pairs of labels rarer than k, for every pair of levels of two columns.

    Args:
        codes: (n, m) raw combinations; counts: (n,) rows of each; first, second: the columns.
        first_levels, second_levels: (levels, values) the label of each value at each level.
    """
    sizes = first_levels.shape[1], second_levels.shape[1]
    pairs = pair_rows(codes, counts, first, second, sizes[0], sizes[1])
    rare = np.zeros((len(first_levels), len(second_levels)), np.int64)
    for low in range(len(first_levels)):
        half = np.zeros((first_levels[low].max() + 1, sizes[1]), np.int64)
        for one in range(sizes[0]):
            for two in range(sizes[1]):
                half[first_levels[low, one], two] += pairs[one, two]
        for high in range(len(second_levels)):
            labels = second_levels[high]
            merged = np.zeros((len(half), labels.max() + 1), np.int64)
            for one in range(len(half)):
                for two in range(sizes[1]):
                    merged[one, labels[two]] += half[one, two]
            for size in merged.ravel():
                if size < k:
                    rare[low, high] += size
    return rare


@compiled
def regroup(starts: Int64, values: Int32, counts: Int64, owner: Int32 | Int64, classes: int, size: int):
    """Aggregate a histogram: entries of merged rows are added; values ascend within a class.

    Args:
        starts, values, counts: the histogram of n rows in compressed rows; owner: (n,) the class of each row.

    Returns:
        starts, values, counts of the classes' histogram.
    """
    if classes * size <= _DENSE * len(values):
        return _regroup_dense(starts, values, counts, owner, classes, size)
    return _regroup_sparse(starts, values, counts, owner, classes, size)


@compiled
def _regroup_dense(starts, values, counts, owner, classes, size):
    """Like `regroup`, with a table of all classes and values: the usual case of few values."""
    table = np.zeros(classes * size, np.int64)
    for row in range(len(starts) - 1):
        base = owner[row] * np.int64(size)
        for entry in range(starts[row], starts[row + 1]):
            table[base + values[entry]] += counts[entry]
    new_starts = np.zeros(classes + 1, np.int64)
    new_values = np.empty(len(values) + 1, np.int32)
    new_counts = np.empty(len(values) + 1, np.int64)
    at = 0
    for one in range(classes):
        base = one * np.int64(size)
        for value in range(size):
            # Each entry is written, and overwritten by the next one if it is empty: this avoids unpredictable branches.
            count = table[base + value]
            new_values[at] = value
            new_counts[at] = count
            at += 1 if count else 0
        new_starts[one + 1] = at
    return new_starts, new_values[:at].copy(), new_counts[:at].copy()


@compiled
def _regroup_sparse(starts, values, counts, owner, classes, size):
    """Like `regroup`, for columns of many values: entries are bucketed by value, then by class, which sorts both."""
    entries = len(values)
    ends = np.zeros(size + 1, np.int64)
    room = np.zeros(classes + 1, np.int64)
    for row in range(len(starts) - 1):
        room[owner[row] + 1] += starts[row + 1] - starts[row]
        for entry in range(starts[row], starts[row + 1]):
            ends[values[entry] + 1] += 1
    for value in range(size):
        ends[value + 1] += ends[value]
    for one in range(classes):
        room[one + 1] += room[one]
    class_at = np.empty(entries, np.int64)
    count_at = np.empty(entries, np.int64)
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            place = ends[values[entry]]
            ends[values[entry]] = place + 1
            class_at[place] = owner[row]
            count_at[place] = counts[entry]
    laid_values = np.empty(entries, np.int32)
    laid_counts = np.empty(entries, np.int64)
    filled = room[:classes].copy()
    place = 0
    for value in range(size):
        while place < ends[value]:
            one = class_at[place]
            last = filled[one] - 1
            if last >= room[one] and laid_values[last] == value:
                laid_counts[last] += count_at[place]
            else:
                laid_values[last + 1] = value
                laid_counts[last + 1] = count_at[place]
                filled[one] = last + 2
            place += 1
    return _without_gaps(room, filled, laid_values, laid_counts)


@compiled
def _without_gaps(room, filled, values, counts):
    """Return compressed rows without the unused space after each."""
    classes = len(filled)
    starts = np.zeros(classes + 1, np.int64)
    at = 0
    for one in range(classes):
        for entry in range(room[one], filled[one]):
            values[at] = values[entry]
            counts[at] = counts[entry]
            at += 1
        starts[one + 1] = at
    return starts, values[:at].copy(), counts[:at].copy()
