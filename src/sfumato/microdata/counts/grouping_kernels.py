"""Compiled loops that pack, generalize and group combinations.

Shapes: a table has n combinations of m columns, packed in w words (see combinations.py); keys are (w, n), so that the
keys of each word are contiguous. All loops release the interpreter lock.
"""

import numpy as np

from sfumato.native.array_types import Int16, Int16_2, Int32, Int32_2, Int64, Int64_3, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_HALF = 32
_LOW = 0xFFFFFFFF
_ALL_ONE_RUN = np.uint64(0)


@compiled
def pack(codes: Int32_2, word: Int64, shift: UInt64, out: UInt64_2):
    """Pack codes (n, m) into keys: out (w, n), zeros; word, shift: (m,) where each column lies."""
    for row in range(len(codes)):
        for column in range(codes.shape[1]):
            out[word[column], row] |= np.uint64(codes[row, column]) << shift[column]


@compiled
def unpack(keys: UInt64_2, word: Int64, shift: UInt64, mask: UInt64, out: Int32_2):
    """The codes behind packed keys (w, n): out (n, m); word, shift, mask: (m,) where each column lies."""
    for row in range(keys.shape[1]):
        for column in range(len(word)):
            out[row, column] = (keys[word[column], row] >> shift[column]) & mask[column]


@compiled
def recode(
    keys: UInt64_2,
    word: Int64,
    shift: UInt64,
    mask: UInt64,
    low: Int16,
    high: Int16,
    labels: UInt64,
    begins: Int64_3,
    out: UInt64_2,
):
    """Generalize packed combinations from one node to another, column by column.

    Args:
        keys: (w, n); word, shift, mask: (m,) where each column lies; low, high: (m,) the levels of both nodes.
        labels, begins: see `grouping.LevelMaps`; out: (w, n) receives the new keys.
    """
    moved, begin = np.empty(len(word), np.int64), np.empty(len(word), np.uint64)
    for at in range(len(keys)):
        many, stay, written = 0, ~np.uint64(0), np.uint64(0)
        for column in range(len(word)):
            if word[column] == at and low[column] != high[column]:
                stay &= ~(mask[column] << shift[column])
                moved[many], begin[many] = column, begins[column, low[column], high[column]]
                many += 1
        if not many:
            out[at] = keys[at]
        old, new, place = keys[at], out[at], 0
        # Two columns at a time: the first pass extracts the unchanged bits, the other ones write the labels.
        while place + 1 < many:
            one, by, bits = begin[place], shift[moved[place]], mask[moved[place]]
            two, far, wide = begin[place + 1], shift[moved[place + 1]], mask[moved[place + 1]]
            for row in range(len(old)):
                key = old[row]
                both = labels[one + (key >> by & bits)] | labels[two + (key >> far & wide)]
                new[row] = key & stay | new[row] & written | both
            stay, written, place = np.uint64(0), ~np.uint64(0), place + 2
        if place < many:
            one, by, bits = begin[place], shift[moved[place]], mask[moved[place]]
            for row in range(len(old)):
                new[row] = old[row] & stay | new[row] & written | labels[one + (old[row] >> by & bits)]


@compiled
def lift(keys, word, shift, mask, column, labels, begin, out):
    """Like `recode`, for one column whose map begins at `begin`."""
    for at in range(len(keys)):
        if at != word[column]:
            out[at] = keys[at]
    old, new = keys[word[column]], out[word[column]]
    by, bits, first = shift[column], mask[column], np.uint64(begin)
    stay = ~(bits << by)
    for row in range(len(old)):
        new[row] = (old[row] & stay) | labels[first + ((old[row] >> by) & bits)]


@compiled
def nearest(nodes: Int16_2, sizes: Int64, many: int, node: Int16):
    """Return the first of the smallest of `many` tables that are nowhere coarser than a node; -1 if there is none.

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


@compiled
def group(keys: UInt64_2, counts: Int64, table: Int64, stamp: int, out_keys: UInt64_2, out_counts: Int64, owner: Int32):
    """Group equal keys.

    Args:
        keys: (w, n); counts: (n,) rows of each.
        table: (2^b,) hash table with 2^b > n, kept between calls: stamp << 32 | class; stamp: a number not used before.
        out_keys: (w, n), out_counts: (n,), owner: (n,) receive the classes and each combination's class.

    Returns:
        The number of classes, numbered as they come.
    """
    if len(keys) == 1:
        return group_runs(keys[0], counts, _ALL_ONE_RUN, table, stamp, out_keys[0], out_counts, owner)
    return _group_wide(keys, counts, table, stamp, out_keys, out_counts, owner)


@compiled
def runs(keys: UInt64, apart: np.uint64):
    """Return the number of runs of keys that are equal in the bits `apart`, and the length of the longest."""
    many, longest, begin = 0, 0, 0
    for row in range(1, len(keys) + 1):
        if row == len(keys) or (keys[row] ^ keys[row - 1]) & apart:
            many += 1
            longest = max(longest, row - begin)
            begin = row
    return many, longest


@compiled
def group_runs(
    keys: UInt64,
    counts: Int64,
    apart: np.uint64,
    table: Int64,
    stamp: int,
    out_keys: UInt64,
    out_counts: Int64,
    owner: Int32,
):
    """Like `group`, for combinations of one word (the usual case); equal keys lie in one run of equal bits `apart`.

    Every run begins with an empty table, only as large as the longest run requires: it stays in the
    processor cache. One stamp is used per run; without bits in `apart`, all keys are one run.
    """
    last = np.uint64(len(table) - 1)
    down = _down(len(table))
    classes, mark = 0, np.int64(stamp) << _HALF
    for row in range(len(keys)):
        key = keys[row]
        if row and (key ^ keys[row - 1]) & apart:
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
            place = np.uint64(entry & _LOW)
            if out_keys[place] == key:
                out_counts[place] += counts[row]
                owner[row] = place
                break
            slot = (slot + _ONE) & last
    return classes


@compiled
def _group_wide(keys, counts, table, stamp, out_keys, out_counts, owner):
    """Like `group`, for combinations of several words."""
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
            place = np.uint64(entry & _LOW)
            same = True
            for at in range(words):
                if out_keys[at, place] != keys[at, row]:
                    same = False
                    break
            if same:
                out_counts[place] += counts[row]
                owner[row] = place
                break
            slot = (slot + _ONE) & last
    return classes


@compiled
def _down(capacity):
    """Return how far to shift a mixed key so that its top bits address the table."""
    bits = 0
    while (1 << bits) < capacity:
        bits += 1
    return np.uint64(64 - bits)
