"""Compiled loops of the search without suppression (rare combinations), and of the sweep over a full lattice."""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.counts.grouping_kernels import group, lift
from sfumato.microdata.counts.kernels import surcharges, tally
from sfumato.microdata.methods.full_domain.frontier_kernels import (
    AVERAGE,
    CHECKED,
    HOLDS,
    KEPT,
    LOSS,
    OPEN,
    ROWS,
    SQUARES,
    SUPPRESSED,
    TIE,
    Checked,
    K,
    class_loss,
    tally_sizes,
)
from sfumato.microdata.methods.full_domain.row_grouping_kernels import (
    ColumnLevels,
    Combinations,
    RareCombinationBuffers,
    group_at,
)
from sfumato.native.array_types import Float64, Float64_2, Int32, Int64, Int64_2, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

# Lattice neighbors this far apart are added a row at a time.
_FAR = 8


class Nodes(NamedTuple):
    """(n,) levels and ranks of the open nodes, their indices in the lattice, and lower bounds of their losses.

    Shapes: n nodes are open; rows are distinguished by the parts of their combinations, as in `part_kernels`.
    """

    levels: UInt64
    places: Int64
    ranks: Float64
    floors: Float64


@compiled
def lowest_levels(columns: ColumnLevels, rows: Int64, k: int, lowest: Int64, scores: Float64):
    """Raise each column to the lowest level without a rare label of its own; one above the highest if there is none.

    Args:
        rows: of each value of each column; lowest: (m,) is raised.
        scores: receives how frequent each value is: the sum of the logarithms of its labels' rows over all levels.
    """
    for column in range(len(lowest)):
        first, values = columns.firsts[column], columns.firsts[column + 1] - columns.firsts[column]
        lone = -1
        for level in range(columns.highest[column], columns.lowest[column] - 1, -1):
            begin = columns.begins[column, level]
            sizes = np.zeros(values, np.int64)
            for value in range(values):
                sizes[columns.labels[begin + value]] += rows[first + value]
            for value in range(values):
                size = sizes[columns.labels[begin + value]]
                scores[first + value] += np.log(1.0 + size)
                if 0 < size < k:
                    lone = max(lone, level)
        lowest[column] = max(lowest[column], lone + 1)


@compiled
def lay_nodes(columns: ColumnLevels, levels: UInt64, places: Int64):
    """List levels and indices (n,) of all nodes from the lowest levels up; the last column's level changes fastest."""
    many, word = 1, np.uint64(0)
    for column in range(len(columns.lowest)):
        word |= np.uint64(columns.lowest[column]) << columns.places[column]
    levels[0], places[0] = word, 0
    for column in range(len(columns.lowest) - 1, -1, -1):
        step, stride = np.uint64(1) << columns.places[column], columns.strides[column]
        for at in range(many, many * (columns.highest[column] - columns.lowest[column] + 1)):
            levels[at], places[at] = levels[at - many] + step, places[at - many] + stride
        many *= columns.highest[column] - columns.lowest[column] + 1


@compiled
def advance(
    nodes: Nodes,
    columns: ColumnLevels,
    table: Combinations,
    room: RareCombinationBuffers,
    checked: Checked,
    params: Int64,
    state: Int64,
    most: Float64,
    where: float,
    many: int,
):
    """Evaluate a number of open nodes, and close those that they exclude; arguments as in `frontier_kernels`."""
    for _ in range(many):
        if state[OPEN] == 0:
            return
        visit(nodes, columns, table, room, checked, params, state, most, pick(nodes, state[OPEN], where))


@compiled
def look(
    nodes: Nodes,
    columns: ColumnLevels,
    table: Combinations,
    room: RareCombinationBuffers,
    checked: Checked,
    params: Int64,
    state: Int64,
    most: Float64,
):
    """Evaluate the coarsest node, which comes last."""
    visit(nodes, columns, table, room, checked, params, state, most, state[OPEN] - 1)


@compiled
def pick(nodes, many, where):
    """Return the index of the open node whose rank is nearest to a fraction of the way from lowest to highest."""
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
    """Group and evaluate a node, store the result, and close the nodes that it excludes."""
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
        # A class of a coarser node contains one that is large enough here, or k of the rows that are not in one.
        plain = params[ROWS] / (kept + (lost - 1) // params[K] + 1)
    close(nodes, columns.guard[0], state, most[0], level, plain, False)
    class_sizes(table, columns, room, rarest_of(table, columns, room, classes, params[K]))
    close_rare(nodes, room.sizes, state, params[K])


@compiled
def close(nodes, guard, state, most, level, floor, coarser_too):
    """Close a node, those that cannot be better, and coarser ones if they are certainly worse."""
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
    """Close the nodes at which the class of a rare combination is too small."""
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
    """Return the combination of the rarest values among the classes, as just grouped, that are too small."""
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
    """Compute the class size of a rare combination at every node: the rows of the combinations it coincides with."""
    nodes, sizes, labels = len(room.sizes), room.sizes, room.labels
    agree(table, columns, room, outlier)
    for side in range(2):
        parts = table.many[side]
        labels[side, :parts] = 0
        for place in range(columns.ends[0] if side else 0, columns.ends[side]):
            for part in range(parts):
                labels[side, part] = min(labels[side, part] + room.agreement[table.values[place, part]], nodes)
    sizes[:] = 0
    for part in range(table.many[0]):
        first = labels[0, part]
        for row in range(table.begins[part], table.begins[part + 1]):
            place = first + labels[1, table.seconds[row]]
            if place < nodes:
                sizes[place] += table.counts[row]
    # A combination that coincides at a node does so at all coarser ones.
    for column in range(len(columns.sides)):
        levels = columns.highest[column] - columns.lowest[column] + 1
        accumulate(sizes, columns.strides[column], levels)


@compiled
def accumulate(sizes, stride, levels):
    """Add to each node the entries of the nodes below it in one column, whose levels are `stride` apart."""
    whole = stride * levels
    for block in range(len(sizes) // whole if levels > 1 else 0):
        begin = block * whole
        if stride < _FAR:
            for place in range(begin + stride, begin + whole):
                sizes[place] += sizes[place - stride]
        else:
            for level in range(1, levels):
                at = begin + level * stride
                lower, upper = sizes[at - stride : at], sizes[at : at + stride]
                for place in range(stride):
                    upper[place] += lower[place]


@compiled
def agree(table, columns, room, outlier):
    """Return for each value of each column the lowest level at which it has the label of the rare combination."""
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
def roll_up_nodes(
    source: tuple[UInt64_2, Int64, Int64, Int64],
    step: tuple[Int64, UInt64, Int64],
    packing: tuple[Int64, UInt64, UInt64],
    room: tuple[Int64, UInt64_2, Int32],
    stamp: int,
    out: tuple[UInt64_2, Int64],
):
    """Group some nodes of a height from nodes below them, each by one level of one column.

    Shapes: a height has n nodes of m columns; the classes of its nodes are stored one node after the other, keys (w,
    classes).

    Args:
        source: keys and counts of the classes below; (n,) where each node's source begins and ends in them.
        step: (n,) the column that is generalized; its labels one level up, shifted, and where they begin, as in `lift`.
        packing: word, shift and mask of each column, (m,).
        room: the hash table of `group`; (w, longest source) a lane, and owners, as scratch. stamp: the last one used.
        out: keys and counts that receive the classes, one node after the other.

    Returns:
        (n + 1,) where each node's classes begin.
    """
    keys, counts, begins, ends = source
    columns, tables, offsets = step
    word, shift, mask = packing
    table, lane, owner = room
    out_keys, out_counts = out
    starts = np.zeros(len(columns) + 1, np.int64)
    at = 0
    for node in range(len(columns)):
        begin, end = begins[node], ends[node]
        relabeled = lane[:, : end - begin]
        lift(keys[:, begin:end], word, shift, mask, columns[node], tables, offsets[node], relabeled)
        stamp += 1
        capacity = 16
        while capacity <= 2 * (end - begin):
            capacity *= 2
        hashed = table[:capacity]
        at += group(relabeled, counts[begin:end], hashed, stamp, out_keys[:, at:], out_counts[at:], owner)
        starts[node + 1] = at
    return starts


@compiled
def tally_nodes(
    source: tuple[UInt64_2, Int64, Int64, Int64],
    k: int,
    nodes: Int64_2,
    packing: tuple[Int64, UInt64, UInt64],
    charges: tuple[Float64, Int64_2, Float64_2],
    priced: bool,
):
    """Compute the metrics of some nodes when classes below k are suppressed.

    Args:
        source: keys and counts of the classes of a height; (n,) where each node's begin and end. nodes: (n, m) levels.
        packing: word, shift and mask of each column, (m,).
        charges: values, offsets and constants, as in `surcharges`; priced: whether what suppression adds is wanted.

    Returns:
        (8, n): suppressed rows, kept classes, smallest and largest of them, sum over all classes of
        size * max(size, k), the same over the suppressed ones, smallest and largest of all classes; and (n, m) what
        suppression adds for each column.
    """
    keys, counts, begins, ends = source
    word, shift, mask = packing
    values, offsets, constant = charges
    figures = np.zeros((8, len(nodes)), np.int64)
    added = np.zeros((len(nodes), len(word)))
    for node in range(len(nodes)):
        sizes = counts[begins[node] : ends[node]]
        failing = np.zeros(len(sizes), np.bool_)
        squares, lost = 0, 0
        for place in range(len(sizes)):
            size = sizes[place]
            pays = size * max(size, k)
            squares += pays
            if size < k:
                lost += pays
                failing[place] = True
        figures[0, node], figures[1, node], figures[2, node], figures[3, node], least, most = tally(sizes, failing)
        figures[4, node], figures[5, node] = squares, lost
        figures[6, node], figures[7, node] = least, most
        if priced and figures[0, node]:
            labels = keys[:, begins[node] : ends[node]]
            added[node] = surcharges(labels, sizes, failing, word, shift, mask, nodes[node], values, offsets, constant)
    return figures, added
