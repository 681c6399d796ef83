"""Compiled loops: relabeling and grouping packed combinations, and pricing what is suppressed.

Shapes: a table has n combinations of m columns, packed in w words (see packing.py); keys are (w, n), so that
each word's keys lie side by side. Kernels are compiled once and kept in numba's cache; all release the interpreter's
lock.
"""

import numpy as np
from numba import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_HALF = 32
_LOW = 0xFFFFFFFF
# A table of classes and values may have so many times the cells of the histogram that fills it.
_DENSE = 16


@njit(cache=True, nogil=True)
def pack(codes, word, shift, out):
    """Pack codes (n, m) into keys: out (w, n), zeros; word, shift: (m,) where each column lies."""
    for row in range(len(codes)):
        for column in range(codes.shape[1]):
            out[word[column], row] |= np.uint64(codes[row, column]) << shift[column]


@njit(cache=True, nogil=True)
def unpack(keys, word, shift, mask, out):
    """The codes behind packed keys (w, n): out (n, m); word, shift, mask: (m,) where each column lies."""
    for row in range(keys.shape[1]):
        for column in range(len(word)):
            out[row, column] = (keys[word[column], row] >> shift[column]) & mask[column]


@njit(cache=True, nogil=True)
def relabel(keys, word, shift, mask, low, high, labels, begins, out):
    """Generalize packed combinations from one node to another, column by column.

    Args:
        keys: (w, n); word, shift, mask: (m,) where each column lies; low, high: (m,) the levels of both nodes.
        labels, begins: see `steps.Steps`; out: (w, n) receives the new keys.
    """
    for at in range(len(keys)):
        stay = ~np.uint64(0)
        for column in range(len(word)):
            if word[column] == at and low[column] != high[column]:
                stay &= ~(mask[column] << shift[column])
        for row in range(keys.shape[1]):
            out[at, row] = keys[at, row] & stay
    for column in range(len(word)):
        if low[column] == high[column]:
            continue
        old, new = keys[word[column]], out[word[column]]
        by, bits = shift[column], mask[column]
        begin = np.uint64(begins[column, low[column], high[column]])
        for row in range(len(old)):
            new[row] |= labels[begin + ((old[row] >> by) & bits)]


@njit(cache=True, nogil=True)
def nearest(nodes, sizes, many, node):
    """The first of the smallest of `many` tables that are nowhere coarser than a node; -1 if there is none.

    Args:
        nodes: (t, m) their levels; sizes: (t,); node: (m,).
    """
    best = -1
    for place in range(many):
        if best >= 0 and sizes[place] >= sizes[best]:
            continue
        fits = True
        for column in range(len(node)):
            if nodes[place, column] > node[column]:
                fits = False
                break
        if fits:
            best = place
    return best


@njit(cache=True, nogil=True)
def group(keys, counts, table, stamp, out_keys, out_counts, owner):
    """Group equal keys.

    Args:
        keys: (w, n); counts: (n,) rows of each.
        table: (2^b,) hash table with 2^b > n, kept between calls: stamp << 32 | class; stamp: a number not used before.
        out_keys: (w, n), out_counts: (n,), owner: (n,) receive the classes and each combination's class.

    Returns:
        The number of classes, numbered as they come.
    """
    if len(keys) == 1:
        return _group_words(keys[0], counts, table, stamp, out_keys[0], out_counts, owner)
    return _group_wide(keys, counts, table, stamp, out_keys, out_counts, owner)


@njit(cache=True, nogil=True)
def _group_words(keys, counts, table, stamp, out_keys, out_counts, owner):
    """As `group`, for combinations that fit in one word: the usual case."""
    last = np.uint64(len(table) - 1)
    down = _down(len(table))
    mark = np.int64(stamp) << _HALF
    classes = 0
    for row in range(len(keys)):
        key = keys[row]
        slot = (key * _MIX) >> down
        while True:
            entry = table[slot]
            if (entry >> _HALF) != stamp:
                table[slot] = mark | classes
                out_keys[classes] = key
                out_counts[classes] = counts[row]
                owner[row] = classes
                classes += 1
                break
            found = np.uint64(entry & _LOW)
            if out_keys[found] == key:
                out_counts[found] += counts[row]
                owner[row] = found
                break
            slot = (slot + _ONE) & last
    return classes


@njit(cache=True, nogil=True)
def runs(keys, shift):
    """How many runs of keys there are that are equal from the bit `shift` on, and how long the longest is."""
    many, longest, begin = 0, 0, 0
    for row in range(1, len(keys) + 1):
        if row == len(keys) or (keys[row] >> shift) != (keys[row - 1] >> shift):
            many += 1
            longest = max(longest, row - begin)
            begin = row
    return many, longest


@njit(cache=True, nogil=True)
def group_runs(keys, counts, shift, table, stamp, out_keys, out_counts, owner):
    """As `group`, for combinations of one word of which equal ones stand in one run of equal bits from `shift` on.

    Every run begins with an empty table, which can be as short as the longest run asks for: it stays in the
    processor's cache. As many stamps are used as there are runs.
    """
    last = np.uint64(len(table) - 1)
    down = _down(len(table))
    classes, mark = 0, np.int64(stamp) << _HALF
    for row in range(len(keys)):
        key = keys[row]
        if row and (key >> shift) != (keys[row - 1] >> shift):
            stamp += 1
            mark = np.int64(stamp) << _HALF
        slot = (key * _MIX) >> down
        while True:
            entry = table[slot]
            if (entry >> _HALF) != stamp:
                table[slot] = mark | classes
                out_keys[classes] = key
                out_counts[classes] = counts[row]
                owner[row] = classes
                classes += 1
                break
            found = np.uint64(entry & _LOW)
            if out_keys[found] == key:
                out_counts[found] += counts[row]
                owner[row] = found
                break
            slot = (slot + _ONE) & last
    return classes


@njit(cache=True, nogil=True)
def _group_wide(keys, counts, table, stamp, out_keys, out_counts, owner):
    """As `group`, for combinations of several words."""
    words = len(keys)
    last = np.uint64(len(table) - 1)
    down = _down(len(table))
    mark = np.int64(stamp) << _HALF
    classes = 0
    for row in range(keys.shape[1]):
        mixed = np.uint64(0)
        for at in range(words):
            mixed = (mixed ^ keys[at, row]) * _MIX
            mixed ^= mixed >> np.uint64(_HALF)
        slot = (mixed * _MIX) >> down
        while True:
            entry = table[slot]
            if (entry >> _HALF) != stamp:
                table[slot] = mark | classes
                for at in range(words):
                    out_keys[at, classes] = keys[at, row]
                out_counts[classes] = counts[row]
                owner[row] = classes
                classes += 1
                break
            found = np.uint64(entry & _LOW)
            same = True
            for at in range(words):
                if out_keys[at, found] != keys[at, row]:
                    same = False
                    break
            if same:
                out_counts[found] += counts[row]
                owner[row] = found
                break
            slot = (slot + _ONE) & last
    return classes


@njit(cache=True, nogil=True)
def _down(capacity):
    """How far to shift a mixed key so that its top bits address the table."""
    bits = 0
    while (1 << bits) < capacity:
        bits += 1
    return np.uint64(64 - bits)


@njit(cache=True, nogil=True)
def tally(sizes, failing):
    """Rows in failing classes; number, smallest and largest of the others; smallest and largest of all."""
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


@njit(cache=True, nogil=True)
def surcharges(keys, sizes, failing, word, shift, mask, node, charges, offsets, constant):
    """What suppression adds for each column: the sum over failing classes of rows times their label's charge.

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


@njit(cache=True, nogil=True)
def rule_out(open_nodes, floors, added, most):
    """Close the open nodes whose bound is above the most that is still of interest. All arrays are flat."""
    for place in range(len(open_nodes)):
        if open_nodes[place] and floors[place] + added[place] > most:
            open_nodes[place] = False


@njit(cache=True, nogil=True)
def pick(open_nodes, ranks, where):
    """The open node whose rank lies nearest to a given part of the way from the lowest to the highest; -1 if none."""
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


@njit(cache=True, nogil=True)
def marginal(codes, counts, column, size):
    """Rows of each of the `size` values of a column. codes: (n, m) raw combinations; counts: (n,) rows of each."""
    found = np.zeros(size, np.int64)
    for row in range(len(counts)):
        found[codes[row, column]] += counts[row]
    return found


@njit(cache=True, nogil=True)
def pair_rows(codes, counts, first, second, height, width):
    """Rows of each pair of codes of two columns, (height, width). codes: (n, m); counts: (n,) rows of each."""
    found = np.zeros((height, width), np.int64)
    for row in range(len(counts)):
        found[codes[row, first], codes[row, second]] += counts[row]
    return found


@njit(cache=True, nogil=True)
def rare_rows(codes, counts, first, second, first_levels, second_levels, k):
    """Rows in pairs of labels rarer than k, for every pair of levels of two columns.

    Args:
        codes: (n, m) raw combinations; counts: (n,) rows of each; first, second: the columns.
        first_levels, second_levels: (levels, values) the label of each value at each level.
    """
    sizes = first_levels.shape[1], second_levels.shape[1]
    pairs = np.zeros(sizes, np.int64)
    for row in range(len(counts)):
        pairs[codes[row, first], codes[row, second]] += counts[row]
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


@njit(cache=True, nogil=True)
def regroup(starts, values, counts, owner, classes, size):
    """Roll a histogram up: entries of merged rows are added; values ascend within a class.

    Args:
        starts, values, counts: the histogram of n rows in compressed rows; owner: (n,) the class of each row.

    Returns:
        starts, values, counts of the classes' histogram.
    """
    if classes * size <= _DENSE * len(values):
        return _regroup_dense(starts, values, counts, owner, classes, size)
    return _regroup_sparse(starts, values, counts, owner, classes, size)


@njit(cache=True, nogil=True)
def _regroup_dense(starts, values, counts, owner, classes, size):
    """As `regroup`, by a table of all classes and values: the usual case, few values."""
    table = np.zeros(classes * size, np.int64)
    for row in range(len(starts) - 1):
        base = owner[row] * np.int64(size)
        for entry in range(starts[row], starts[row + 1]):
            table[base + values[entry]] += counts[entry]
    new_starts = np.zeros(classes + 1, np.int64)
    new_values = np.empty(len(values), np.int32)
    new_counts = np.empty(len(values), np.int64)
    at = 0
    for one in range(classes):
        base = one * np.int64(size)
        for value in range(size):
            count = table[base + value]
            if count:
                new_values[at] = value
                new_counts[at] = count
                at += 1
        new_starts[one + 1] = at
    return new_starts, new_values[:at].copy(), new_counts[:at].copy()


@njit(cache=True, nogil=True)
def _regroup_sparse(starts, values, counts, owner, classes, size):
    """As `regroup`, class by class: for columns of many values."""
    rows = len(starts) - 1
    heads = np.full(classes, -1, np.int64)
    following = np.full(rows, -1, np.int64)
    for row in range(rows - 1, -1, -1):
        following[row] = heads[owner[row]]
        heads[owner[row]] = row
    new_starts = np.zeros(classes + 1, np.int64)
    new_values = np.empty(len(values), np.int32)
    new_counts = np.empty(len(values), np.int64)
    tally = np.zeros(size, np.int64)
    at = 0
    for one in range(classes):
        begin = at
        row = heads[one]
        while row >= 0:
            for entry in range(starts[row], starts[row + 1]):
                value = values[entry]
                if tally[value] == 0:
                    new_values[at] = value
                    at += 1
                tally[value] += counts[entry]
            row = following[row]
        new_values[begin:at].sort()
        for entry in range(begin, at):
            new_counts[entry] = tally[new_values[entry]]
            tally[new_values[entry]] = 0
        new_starts[one + 1] = at
    return new_starts, new_values[:at].copy(), new_counts[:at].copy()
