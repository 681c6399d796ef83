"""Compiled loops that group the rows at a node of the lattice if no row may be suppressed.

Shapes: r combinations of m columns are distinct at the lowest node. The levels of a node are packed in one word, as in
`frontier_kernels`. The columns are divided into two sides: a combination has a part on each, and there are far fewer
parts than combinations, so most of the work for a node is done once per part. The combinations of a part of the first
side are contiguous.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.counts.grouping_kernels import group_runs
from sfumato.microdata.methods.full_domain.frontier_kernels import STAMP
from sfumato.native.array_types import Float64, Int32, Int32_2, Int64, Int64_2, UInt64
from sfumato.native.dispatch import compiled

_ONE_RUN = np.uint64(0)
_HALF = 32
_LOW = 0xFFFFFFFF
_APART = 4


class ColumnLevels(NamedTuple):
    """The labels of each column's values at each level.

    labels: of all values; begins, widths (m, levels): where those of a column's level begin, how many there are.
    firsts (m + 1,): where a column begins in arrays of all values; lowest, highest, strides (m,): the levels of the
    lattice, and the distance of neighbors in it; sides (m,): the columns, those of one side first, and ends (2,):
    where each side ends there; places, bits (m,), guard (1,): as in `frontier_kernels`.
    """

    labels: Int32
    begins: Int64_2
    widths: Int64_2
    firsts: Int64
    lowest: Int64
    highest: Int64
    strides: Int64
    sides: Int64
    ends: Int64
    places: UInt64
    bits: UInt64
    guard: UInt64


class Combinations(NamedTuple):
    """Raw codes (raw, m); (r,) rows of each combination, which raw one stands for it, and its part on the second side.

    begins (parts + 1,): where the combinations of each part of the first side begin; values (m, parts): of each of the
    columns, those of one side first, the values of the parts of its side, among all values; many (3,): parts on both
    sides, and combinations.
    """

    codes: Int32_2
    counts: Int32
    raw: Int32
    seconds: Int32
    begins: Int32
    values: Int32_2
    many: Int64


class RareCombinationBuffers(NamedTuple):
    """A hash table; (r,) keys, classes, sizes, owners and first combinations; (2, r) what is known of parts; cells of
    labels; for all values what they add to a key, how usual they are and where they meet an outlier; (nodes,) sizes of
    its class.
    """

    hashed: Int64
    keys: UInt64
    classes: UInt64
    counts: Int64
    owner: Int32
    rows: Int32
    labels: Int32_2
    cells: Int32
    cell_rows: Int32
    worth: UInt64
    scores: Float64
    agreement: Int64
    sizes: Int32


@compiled
def start(counts: Int64, columns: ColumnLevels, table: Combinations, room: RareCombinationBuffers, state: Int64):
    """Distinguish the raw combinations as the lowest node does, by their parts; counts: (raw,) their rows."""
    many = len(counts)
    for side in range(2):
        weigh(columns, room, columns.lowest, side)
        for row in range(many):
            room.keys[row] = key_of(table.codes, columns, room.worth, row, side)
        parts = number_keys(room, state, many, span(columns, columns.lowest, side, len(room.hashed)))
        table.many[side] = parts
        for place in range(columns.ends[0] if side else 0, columns.ends[side]):
            column = columns.sides[place]
            first = columns.firsts[column]
            for part in range(parts):
                table.values[place, part] = first + table.codes[room.rows[part], column]
        room.labels[side, :many] = room.owner[:many]
    by_first_part(table, room, many)
    join(counts, table, room)


@compiled
def by_first_part(table, room, many):
    """Sort the raw combinations by their part on the first side: where each begins, and their order (`owner`)."""
    begins, parts = table.begins, table.many[0]
    begins[: parts + 1] = 0
    for row in range(many):
        begins[room.labels[0, row] + 1] += 1
    for part in range(parts):
        begins[part + 1] += begins[part]
        room.rows[part] = begins[part]
    for row in range(many):
        part = room.labels[0, row]
        room.owner[room.rows[part]] = row
        room.rows[part] += 1


@compiled
def join(counts, table, room):
    """Merge the raw combinations, sorted by their first part, that are equal in the second too."""
    latest = room.cell_rows
    latest[: table.many[1]] = -1
    made, begin = 0, 0
    for part in range(table.many[0]):
        first, end = made, table.begins[part + 1]
        for at in range(begin, end):
            row = room.owner[at]
            second = room.labels[1, row]
            if latest[second] < first:
                latest[second] = made
                table.counts[made], table.raw[made], table.seconds[made] = 0, row, second
                made += 1
            table.counts[latest[second]] += counts[row]
        table.begins[part], begin = first, end
    table.begins[table.many[0]] = made
    table.many[2] = made


@compiled
def group_at(table, columns, room, state, level):
    """Group the combinations at a node; return the number of classes.

    The size of each, and one of its combinations, are stored in the buffers.
    """
    node = np.empty(len(columns.sides), np.int64)
    for column in range(len(columns.sides)):
        node[column] = np.int64((level >> columns.places[column]) & columns.bits[column])
    most = len(room.cells)
    wide, high = span(columns, node, 1, most), span(columns, node, 0, most)
    labels_fit = wide * high <= most
    wide = label_parts(table, columns, room, state, node, 1, wide if labels_fit else 0)
    high = label_parts(table, columns, room, state, node, 0, high if labels_fit else 0)
    cells = wide * high
    if cells > most:
        return group_hashed(table, room, state, wide)
    # Consecutive rows mostly hit the same few cells: they are added to separate sums, to avoid waiting.
    apart = 1 if _APART * _APART * cells > most else _APART
    room.cells[: apart * cells] = 0
    ways, labels, sums, rows = apart - 1, room.labels[1], room.cells, room.cell_rows
    for part in range(table.many[0]):
        first = room.labels[0, part] * wide
        for row in range(table.begins[part], table.begins[part + 1]):
            place = first + labels[table.seconds[row]] + (row & ways) * cells
            sums[place] += table.counts[row]
            rows[place] = row
    classes = 0
    for cell in range(cells):
        size, row = 0, 0
        for way in range(apart):
            place = cell + way * cells
            if room.cells[place]:
                size, row = size + room.cells[place], max(row, room.cell_rows[place])
        if size:
            room.counts[classes], room.rows[classes] = size, row
            classes += 1
    return classes


@compiled
def group_hashed(table, room, state, wide):
    """Like `group_at`, once all parts are labeled, if there are many more pairs of labels than combinations."""
    for part in range(table.many[0]):
        first = np.int64(room.labels[0, part]) * wide
        for row in range(table.begins[part], table.begins[part + 1]):
            room.keys[row] = np.uint64(first + room.labels[1, table.seconds[row]])
    return group_keys(table.counts[: table.many[2]], room, state, table.many[2])


@compiled
def label_parts(table, columns, room, state, node, side, most):
    """Label the parts of one side at a node; return the maximum number of labels.

    Args:
        most: Maximum number of labels; 0 if these are too many: then those that occur are numbered.
    """
    parts = table.many[side]
    weigh(columns, room, node, side)
    room.keys[:parts] = 0
    for place in range(columns.ends[0] if side else 0, columns.ends[side]):
        for part in range(parts):
            room.keys[part] += room.worth[table.values[place, part]]
    if most:
        for part in range(parts):
            room.labels[side, part] = np.int64(room.keys[part])
        return most
    labels = number_keys(room, state, parts, span(columns, node, side, len(room.hashed)))
    room.labels[side, :parts] = room.owner[:parts]
    return labels


@compiled
def span(columns, node, side, most):
    """Return how many labels a side may have at a node; more than `most` means too many."""
    labels = 1
    for place in range(columns.ends[0] if side else 0, columns.ends[side]):
        column = columns.sides[place]
        labels = min(labels * columns.widths[column, node[column]], most + 1)
    return labels


@compiled
def weigh(columns, room, node, side):
    """Compute the weights of one side's values in a key that distinguishes their labels at a node, counted from 0."""
    step = np.uint64(1)
    for place in range(columns.ends[0] if side else 0, columns.ends[side]):
        column = columns.sides[place]
        first, begin = columns.firsts[column], columns.begins[column, node[column]]
        for value in range(columns.firsts[column + 1] - first):
            room.worth[first + value] = np.uint64(columns.labels[begin + value]) * step
        step *= np.uint64(columns.widths[column, node[column]])


@compiled
def key_of(codes, columns, worth, row, side):
    """Return the key of a raw combination in the columns of one side, by these weights."""
    key = np.uint64(0)
    for place in range(columns.ends[0] if side else 0, columns.ends[side]):
        column = columns.sides[place]
        key += worth[columns.firsts[column] + codes[row, column]]
    return key


@compiled
def number_keys(room, state, many, most):
    """Number the first keys of the buffer in order of occurrence; return how many there are.

    The number of each key, and the first key of each number, are stored in the buffers.

    Args:
        most: If it is at most the length of the hash table, all keys are smaller, and each has a slot of its own.
    """
    if most > len(room.hashed):
        return group_keys(room.counts[:many], room, state, many)
    state[STAMP] += 1
    stamp, made = state[STAMP], 0
    for row in range(many):
        entry = room.hashed[room.keys[row]]
        if entry >> _HALF == stamp:
            room.owner[row] = entry & _LOW
        else:
            room.hashed[room.keys[row]] = (stamp << _HALF) | made
            room.owner[row], room.rows[made] = made, row
            made += 1
    return made


@compiled
def group_keys(counts, room, state, most):
    """Group the first keys of the buffer, one per count; return the number of classes, at most `most`.

    Their sizes, the class of each key, and the first key of each class are stored in the buffers.
    """
    many, capacity = len(counts), 16
    while capacity <= 2 * most:
        capacity *= 2
    state[STAMP] += 1
    hashed, keys = room.hashed[:capacity], room.keys[:many]
    classes = group_runs(keys, counts, _ONE_RUN, hashed, state[STAMP], room.classes, room.counts, room.owner)
    made = 0
    for row in range(many):
        # Classes are numbered in order of occurrence.
        if made < classes and room.owner[row] == made:
            room.rows[made] = row
            made += 1
    return classes
