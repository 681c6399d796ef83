"""Compiled loops of the search for the best node where no row may be suppressed.

Shapes: n nodes are open; r combinations of m columns are told apart at the lowest node. The levels of a node lie in one
word, as in `frontier_kernels`. The columns lie on two sides: a combination has a part on each, and there are far fewer
parts than combinations, so that most of what is done for a node is done once for each part.
"""

from typing import NamedTuple

import numpy as np

from sfumato.loops.arrays import Halves, Halves2, Ints, Ints2, Reals, Words
from sfumato.loops.compiled import compiled
from sfumato.microdata.counts.grouping_kernels import group_runs
from sfumato.microdata.methods.full_domain.lattice.frontier_kernels import (
    AVERAGE,
    CHECKED,
    HOLDS,
    KEPT,
    LOSS,
    OPEN,
    ROWS,
    SQUARES,
    STAMP,
    SUPPRESSED,
    TIE,
    Checked,
    K,
    class_loss,
    tally_sizes,
)

_ONE_RUN = np.uint64(0)


class Nodes(NamedTuple):
    """(n,) levels and ranks of the open nodes, their places in the lattice, and lower bounds of their losses."""

    levels: Words
    places: Ints
    ranks: Reals
    floors: Reals


class ColumnLevels(NamedTuple):
    """What the values of each column are at each level.

    labels: shifted to where they lie in a key; begins (m, levels): where those of a column's level begin.
    firsts (m + 1,): where a column begins in arrays of all values; lowest, highest, strides (m,): the levels of the
    lattice, and how far apart neighbors lie in it; sides (m,): the columns, those of one side first, and ends (2,):
    where each side ends there; shift, places, bits (m,), guard (1,): as in `frontier_kernels`.
    """

    labels: Words
    begins: Ints2
    firsts: Ints
    lowest: Ints
    highest: Ints
    strides: Ints
    sides: Ints
    ends: Ints
    shift: Words
    places: Words
    bits: Words
    guard: Words


class Combinations(NamedTuple):
    """Raw codes (raw, m); (r,) rows of each combination, and which raw one stands for it; (2, r) its parts.

    firsts (2, parts): a raw combination that has a part; many (3,): parts on both sides, and combinations.
    """

    codes: Halves2
    counts: Ints
    raw: Halves
    parts: Halves2
    firsts: Halves2
    many: Ints


class OutlierRoom(NamedTuple):
    """A hash table; (r,) keys, classes, sizes, owners and first combinations; (2, r) what is known of parts; cells of
    labels; for all values how usual they are and where they meet an outlier; (nodes,) sizes of its class.
    """

    hashed: Ints
    keys: Words
    classes: Words
    counts: Ints
    owner: Halves
    rows: Halves
    labels: Ints2
    cells: Ints
    cell_rows: Halves
    scores: Reals
    agreement: Ints
    sizes: Ints


@compiled
def lowest_levels(columns: ColumnLevels, rows: Ints, k: int, lowest: Ints, scores: Reals):
    """The lowest level of each column at which it has no rare label by itself; one above the highest if it always has.

    Args:
        rows: of each value of each column; lowest: (m,) is raised.
        scores: of each value receives how usual it is: the logarithms of the rows of its labels, over all levels.
    """
    for column in range(len(lowest)):
        first, values = columns.firsts[column], columns.firsts[column + 1] - columns.firsts[column]
        lone = -1
        for level in range(columns.highest[column], columns.lowest[column] - 1, -1):
            begin = columns.begins[column, level]
            sizes = np.zeros(values, np.int64)
            for value in range(values):
                sizes[np.int64(columns.labels[begin + value] >> columns.shift[column])] += rows[first + value]
            for value in range(values):
                size = sizes[np.int64(columns.labels[begin + value] >> columns.shift[column])]
                scores[first + value] += np.log(1.0 + size)
                if 0 < size < k:
                    lone = max(lone, level)
        lowest[column] = max(lowest[column], lone + 1)


@compiled
def start(counts: Ints, columns: ColumnLevels, table: Combinations, room: OutlierRoom, state: Ints):
    """Tell the raw combinations apart as the lowest node does, by their parts; counts: (raw,) their rows."""
    for side in range(2):
        most = 1
        for place in range(columns.ends[0] if side else 0, columns.ends[side]):
            column = columns.sides[place]
            most = min(most * (columns.firsts[column + 1] - columns.firsts[column]), len(counts))
        for row in range(len(counts)):
            room.keys[row] = key_at(table.codes, columns, columns.lowest, row, side)
        table.many[side] = group_keys(counts, room, state, most)
        table.firsts[side, : table.many[side]] = room.rows[: table.many[side]]
        table.parts[side, :] = room.owner
    for row in range(len(counts)):
        room.keys[row] = np.uint64(np.int64(table.parts[0, row]) * table.many[1] + table.parts[1, row])
    classes = group_keys(counts, room, state, len(counts))
    for place in range(classes):
        # A combination is never behind the raw one that stands for it.
        row = room.rows[place]
        table.counts[place], table.raw[place] = room.counts[place], row
        table.parts[0, place], table.parts[1, place] = table.parts[0, row], table.parts[1, row]
    table.many[2] = classes


@compiled
def advance(
    nodes: Nodes,
    columns: ColumnLevels,
    table: Combinations,
    room: OutlierRoom,
    checked: Checked,
    params: Ints,
    state: Ints,
    most: Reals,
    where: float,
    many: int,
):
    """Check so many open nodes, and close those that they rule out; the arguments are those of `frontier_kernels`."""
    for _ in range(many):
        if state[OPEN] == 0:
            return
        visit(nodes, columns, table, room, checked, params, state, most, pick(nodes, state[OPEN], where))


@compiled
def look(
    nodes: Nodes,
    columns: ColumnLevels,
    table: Combinations,
    room: OutlierRoom,
    checked: Checked,
    params: Ints,
    state: Ints,
    most: Reals,
):
    """Check the coarsest node, which stands last."""
    visit(nodes, columns, table, room, checked, params, state, most, state[OPEN] - 1)


@compiled
def pick(nodes, many, where):
    """The place of the open node whose rank lies nearest to a part of the way from the lowest to the highest."""
    low, high = nodes.ranks[0], nodes.ranks[0]
    for place in range(1, many):
        low, high = min(low, nodes.ranks[place]), max(high, nodes.ranks[place])
    target = low + (high - low) * where
    best = 0
    for place in range(1, many):
        if abs(nodes.ranks[place] - target) < abs(nodes.ranks[best] - target):
            best = place
    return best


@compiled
def visit(nodes, columns, table, room, checked, params, state, most, chosen):
    """Group and judge a node, write what it comes to, and close the nodes that it rules out."""
    place, level, plain = state[CHECKED], nodes.levels[chosen], nodes.floors[chosen]
    classes = group_at(table, columns, room, state, level)
    sizes = room.counts[:classes]
    tally_sizes(sizes, params[K], checked.figures, place)
    lost, kept = checked.figures[SUPPRESSED, place], checked.figures[KEPT, place]
    by_sizes = params[LOSS] >= SQUARES
    if by_sizes:
        plain, _ = class_loss(sizes, params, kept)
    checked.figures[HOLDS, place] = 1 if lost == 0 else 0
    checked.levels[place] = level
    checked.terms[0, place], checked.terms[1, place] = plain, 0.0
    state[CHECKED] = place + 1
    if lost == 0:
        most[0] = min(most[0], plain + TIE * max(1.0, plain))
        close(nodes, columns.guard[0], state, most[0], level, plain, by_sizes)
        return
    if params[LOSS] == AVERAGE:
        # A class of a coarser node holds one that is large enough here, or k of the rows that are not in one.
        plain = params[ROWS] / (kept + (lost - 1) // params[K] + 1)
    close(nodes, columns.guard[0], state, most[0], level, plain, False)
    class_sizes(table, columns, room, rarest_of(table, columns, room, classes, params[K]))
    close_rare(nodes, room.sizes, state, params[K])


@compiled
def close(nodes, guard, state, most, level, floor, coarser_too):
    """Close a node, those that cannot be better, and those above it where they are worse for certain."""
    keep = 0
    for place in range(state[OPEN]):
        other = nodes.levels[place]
        coarser = (((other | guard) - level) & guard) == guard
        if other == level or (coarser and coarser_too):
            continue
        floor_here = max(nodes.floors[place], floor) if coarser else nodes.floors[place]
        if floor_here > most:
            continue
        nodes.levels[keep], nodes.places[keep] = other, nodes.places[place]
        nodes.ranks[keep], nodes.floors[keep] = nodes.ranks[place], floor_here
        keep += 1
    state[OPEN] = keep


@compiled
def close_rare(nodes, sizes, state, k):
    """Close the nodes at which the class of an outlier is too small."""
    keep = 0
    for place in range(state[OPEN]):
        if sizes[nodes.places[place]] < k:
            continue
        nodes.levels[keep], nodes.places[keep] = nodes.levels[place], nodes.places[place]
        nodes.ranks[keep], nodes.floors[keep] = nodes.ranks[place], nodes.floors[place]
        keep += 1
    state[OPEN] = keep


@compiled
def rarest_of(table, columns, room, classes, k):
    """The combination of the least usual values among those that stand for a class, as just grouped, too small."""
    rarest, least = -1, 0.0
    for place in range(classes):
        if room.counts[place] >= k:
            continue
        row, score = table.raw[room.rows[place]], 0.0
        for column in range(len(columns.sides)):
            score += room.scores[columns.firsts[column] + table.codes[row, column]]
        if rarest < 0 or score < least:
            rarest, least = row, score
    return rarest


@compiled
def class_sizes(table, columns, room, outlier):
    """The size of an outlier's class at every node: the rows of the combinations that it meets there."""
    nodes = len(room.sizes)
    agree(table, columns, room, outlier)
    for side in range(2):
        for part in range(table.many[side]):
            row, place = table.firsts[side, part], 0
            for at in range(columns.ends[0] if side else 0, columns.ends[side]):
                column = columns.sides[at]
                place += room.agreement[columns.firsts[column] + table.codes[row, column]]
            room.labels[side, part] = place
    room.sizes[:] = 0
    for row in range(table.many[2]):
        place = room.labels[0, table.parts[0, row]] + room.labels[1, table.parts[1, row]]
        if place < nodes:
            room.sizes[place] += table.counts[row]
    # Who is met at a node is met at all coarser ones.
    for column in range(len(columns.sides)):
        stride, levels = columns.strides[column], columns.highest[column] - columns.lowest[column] + 1
        for begin in range(0, nodes // (stride * levels) if levels > 1 else 0):
            for place in range(begin * stride * levels + stride, (begin + 1) * stride * levels):
                room.sizes[place] += room.sizes[place - stride]


@compiled
def agree(table, columns, room, outlier):
    """For each value of each column the lowest level at which it is what the outlier is, as a step in the lattice."""
    for column in range(len(columns.sides)):
        first, own = columns.firsts[column], table.codes[outlier, column]
        low, high = columns.lowest[column], columns.highest[column]
        for value in range(columns.firsts[column + 1] - first):
            level = low
            while level <= high:
                begin = columns.begins[column, level]
                if columns.labels[begin + value] == columns.labels[begin + own]:
                    break
                level += 1
            room.agreement[first + value] = (
                (level - low) * columns.strides[column] if level <= high else len(room.sizes)
            )


@compiled
def group_at(table, columns, room, state, level):
    """Group the combinations at a node; how many classes there are.

    The size of each, and a combination that it holds, lie in the room.
    """
    node = np.empty(len(columns.sides), np.int64)
    for column in range(len(columns.sides)):
        node[column] = np.int64((level >> columns.places[column]) & columns.bits[column])
    wide = label_parts(table, columns, room, state, node, 1)
    high = label_parts(table, columns, room, state, node, 0)
    many, cells = table.many[2], wide * high
    if cells > len(room.cells):
        for row in range(many):
            place = room.labels[0, table.parts[0, row]] * wide + room.labels[1, table.parts[1, row]]
            room.keys[row] = np.uint64(place)
        return group_keys(table.counts[:many], room, state, many)
    room.cells[:cells] = 0
    for row in range(many):
        place = room.labels[0, table.parts[0, row]] * wide + room.labels[1, table.parts[1, row]]
        room.cells[place] += table.counts[row]
        room.cell_rows[place] = row
    classes = 0
    for place in range(cells):
        if room.cells[place]:
            room.counts[classes], room.rows[classes] = room.cells[place], room.cell_rows[place]
            classes += 1
    return classes


@compiled
def label_parts(table, columns, room, state, node, side):
    """Number the labels that the parts of one side have at a node; how many there are."""
    parts = table.many[side]
    for part in range(parts):
        room.keys[part] = key_at(table.codes, columns, node, table.firsts[side, part], side)
    labels = group_keys(table.counts[:parts], room, state, parts)
    for part in range(parts):
        room.labels[side, part] = room.owner[part]
    return labels


@compiled
def key_at(codes, columns, node, row, side):
    """The labels of a raw combination at a node, in the columns of one side."""
    key = np.uint64(0)
    for place in range(columns.ends[0] if side else 0, columns.ends[side]):
        column = columns.sides[place]
        key |= columns.labels[columns.begins[column, node[column]] + codes[row, column]]
    return key


@compiled
def group_keys(counts, room, state, most):
    """Group the first keys of the room, as many as there are counts; how many classes there are, of so many at most.

    Their sizes, the class of each key, and the first key of each class lie in the room.
    """
    many, capacity = len(counts), 16
    while capacity <= 2 * most:
        capacity *= 2
    state[STAMP] += 1
    hashed, keys = room.hashed[:capacity], room.keys[:many]
    classes = group_runs(keys, counts, _ONE_RUN, hashed, state[STAMP], room.classes, room.counts, room.owner)
    made = 0
    for row in range(many):
        # Classes are numbered as they come.
        if made < classes and room.owner[row] == made:
            room.rows[made] = row
            made += 1
    return classes
