"""Compiled loops on one node of K-Optimize: blocks of values, merging rows, splitting classes, costs and penalties.

A node is a state for each feature (`OUT`, `TAIL` or `HEAD`). Its rows are the combinations that the head and the tail
together distinguish, packed in words, contiguous for each class of the head. Rows of settled classes (suppressed, or of
one row that nothing can split) are removed; their cost is kept in a sum.
"""

import numpy as np

from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.native.array_types import Float64, Int8
from sfumato.native.dispatch import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)


@compiled
def code_of(inst, keys, row, column):
    """Return the code of a column in the key of a row."""
    return (keys[row, inst.columns[column, at.WORD]] >> inst.columns[column, at.SHIFT]) & inst.columns[column, at.MASK]


@compiled
def blocks(inst, state, least, column, out, base):
    """Write the block of each code of a column to `out`, from position `base` on.

    Only features whose state is at least `least` separate blocks. If values are ordered, a block has the code of its
    first value. Otherwise a feature isolates a value, whose block has its code; all other values share the code `size`.
    """
    size, first = inst.columns[column, at.SIZE], inst.columns[column, at.FIRST]
    if inst.params[at.ORDERED]:
        block = 0
        for code in range(size):
            if code > 0 and state[first + code - 1] >= least:
                block = code
            out[base + code] = block
    else:
        for code in range(size):
            out[base + code] = code if state[first + code] >= least else size
    out[base + size] = size


@compiled
def penalties(inst: at.Instance, state: Int8, least: int, out: Float64):
    """Compute for each column and code the weighted loss (M-1)/(|A|-1) of its block; `least` as in `blocks`.

    A block of one value is that value; a block of all values, or of the missing value and others, is `*`
    and has the maximum loss. Splitting a block never increases a loss.
    """
    for column in range(len(inst.weights)):
        size, base = inst.columns[column, at.SIZE], inst.columns[column, at.BASE]
        block = np.empty(size + 1, np.int64)
        blocks(inst, state, least, column, block, at.ORIGIN)
        members = np.zeros(size + 1, np.int64)
        low = np.zeros(size + 1, np.int64)
        high = np.zeros(size + 1, np.int64)
        apart, single = 0, 0
        for code in range(size):
            if members[block[code]] == 0:
                low[block[code]] = inst.values[base + code, at.LOW]
            members[block[code]] += 1
            high[block[code]] = inst.values[base + code, at.HIGH]
            if block[code] == size:
                single = inst.values[base + code, at.LEAVES]
            else:
                apart += inst.values[base + code, at.LEAVES]
        for code in range(size + 1):
            name = block[code]
            covered = high[name] - low[name]
            if name == size:
                covered = single if members[size] == 1 else inst.columns[column, at.DOMAIN] - apart
            loss = max(covered - 1, 0) / max(inst.columns[column, at.DOMAIN] - 1, 1)
            mixed = inst.columns[column, at.MISSING] >= 0 and block[inst.columns[column, at.MISSING]] == name
            if members[name] > 1 and (members[name] == size or mixed):
                loss = 1.0
            out[base + code] = inst.weights[column] * loss


@compiled
def renames(inst, state, touched, out):
    """Compute for each code of the touched columns the block that head and tail still distinguish."""
    for column in range(len(inst.weights)):
        if touched[column]:
            blocks(inst, state, at.TAIL, column, out, inst.columns[column, at.BASE])


@compiled
def relabel(inst, keys, start, stop, touched, block):
    """Replace the codes in the rows of a class by their blocks, as given by `renames`; return whether any changed."""
    changed = False
    for column in range(len(inst.weights)):
        if not touched[column]:
            continue
        word, shift, mask = inst.columns[column, at.WORD], inst.columns[column, at.SHIFT], inst.columns[column, at.MASK]
        stay, base = ~(mask << shift), inst.columns[column, at.BASE]
        for row in range(start, stop):
            key = keys[row, word]
            fresh = (key & stay) | (block[base + ((key >> shift) & mask)] << shift)
            changed = changed or fresh != key
            keys[row, word] = fresh
    return changed


@compiled
def merge(keys, counts, label_rows, start, stop, write, table, stamp):
    """Merge the equal rows of one class, writing them from position `write` on.

    Args:
        table: (2, 2^b) a hash table of rows, and the stamp of each: an entry is valid if its stamp is the given one.
            Only as much of the table is used as the class needs, so that it stays in the processor cache.

    Returns:
        The position from which the next class is written.
    """
    places = 1
    while places < 2 * (stop - start):
        places *= 2
    last = np.uint64(places - 1)
    begin = write
    for row in range(start, stop):
        mixed = np.uint64(0)
        for word in range(keys.shape[1]):
            mixed = (mixed ^ np.uint64(keys[row, word])) * _MIX
            mixed ^= mixed >> np.uint64(29)
        place = mixed & last
        match = -1
        while table[1, place] == stamp:
            other = table[0, place]
            same = True
            for word in range(keys.shape[1]):
                same = same and keys[other, word] == keys[row, word]
            if same:
                match = other
                break
            place = (place + np.uint64(1)) & last
        if match >= begin:
            counts[match] += counts[row]
            for label in range(label_rows.shape[1]):
                label_rows[match, label] += label_rows[row, label]
            continue
        table[0, place], table[1, place] = write, stamp
        move(keys, counts, label_rows, row, write)
        write += 1
    return write


@compiled
def move(keys, counts, label_rows, row, to):
    """Copy a row to another position."""
    for word in range(keys.shape[1]):
        keys[to, word] = keys[row, word]
    counts[to] = counts[row]
    for label in range(label_rows.shape[1]):
        label_rows[to, label] = label_rows[row, label]


@compiled
def has(inst, keys, row, feature):
    """Return whether a row has a feature; its block lies on one side, because the feature is in head or tail."""
    code = code_of(inst, keys, row, inst.features[feature, at.COLUMN])
    return (
        code >= inst.features[feature, at.VALUE]
        if inst.params[at.ORDERED]
        else code == inst.features[feature, at.VALUE]
    )


@compiled
def suppressed_cost(inst, rows):
    """Return the cost of suppressed rows."""
    if inst.params[at.KIND] == at.DISCERNIBILITY:
        return np.float64(rows) * inst.params[at.ROWS]
    if inst.params[at.KIND] == at.CLASSIFICATION:
        return np.float64(rows)
    weight = 0.0
    for column in range(len(inst.weights)):
        weight += inst.weights[column]
    return rows * weight


@compiled
def minority(label_rows, start, stop):
    """Return the rows of a class without its most frequent label."""
    total, most = 0, 0
    for label in range(label_rows.shape[1]):
        rows = 0
        for row in range(start, stop):
            rows += label_rows[row, label]
        total += rows
        most = max(most, rows)
    return total - most
