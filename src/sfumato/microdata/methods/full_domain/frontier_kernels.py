"""Compiled loops of the search for the optimal node, for models that depend on class sizes alone (the usual case).

Shapes: n nodes are open, by rank; t tables of classes are stored, the first is the original one; m columns. The levels
of a node are packed in one word with a free bit above each column's bits (`guard` has all of these), so that one
subtraction compares two nodes in every column.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.counts.grouping_kernels import group, recode
from sfumato.microdata.counts.kernels import surcharges
from sfumato.native.array_types import Float64, Float64_2, Int16, Int32, Int64, Int64_2, Int64_3, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

# Indices in `state`: number of open nodes, cached tables and evaluated nodes; the last stamp of the hash table.
OPEN, TABLES, CHECKED, STAMP = 0, 1, 2, 3
# Indices in `params`.
K, LIMIT, ROWS, LOSS = 0, 1, 2, 3
# Losses: sums over columns, sums of logarithms; then those of class sizes: their squares, rows over classes.
SUMS, LOGS, SQUARES, AVERAGE = 0, 1, 2, 3
# Indices in the metrics of an evaluated node: rows suppressed, classes kept, smallest and largest of them, all classes,
# smallest and largest of all, and whether it is releasable.
SUPPRESSED, KEPT, SMALLEST, LARGEST, CLASSES, LEAST, MOST, HOLDS = 0, 1, 2, 3, 4, 5, 6, 7
# A sum that is larger by rounding errors alone is not larger.
TIE = 1e-9


class OpenNodes(NamedTuple):
    """(n,) levels and ranks of the open nodes, and lower bounds of both parts of their losses."""

    levels: UInt64
    ranks: Float64
    floors: Float64
    added: Float64


class Tables(NamedTuple):
    """(t,) the levels of each table, and where it ends in keys (w, room) and counts (room,)."""

    levels: UInt64
    ends: Int64
    keys: UInt64_2
    counts: Int64


class PackedColumns(NamedTuple):
    """(m,) the position of each column in a key and in the levels of a node; its maps, as in `grouping.LevelMaps`.

    guard (1,): the bits that stay free; widest (m,): the columns, those of most values first.
    """

    word: Int64
    shift: UInt64
    mask: UInt64
    places: UInt64
    bits: UInt64
    guard: UInt64
    widest: Int64
    steps: UInt64
    begins: Int64_3


class LevelLosses(NamedTuple):
    """For losses that are sums: (m, levels) the loss of each level, (m,) weights, and charges as in `surcharges`."""

    means: Float64_2
    shares: Float64
    charges: Float64
    offsets: Int64_2
    constant: Float64_2


class FrontierBuffers(NamedTuple):
    """A hash table, and buffers for the relabeled classes of one table and for those of one that is not cached."""

    hashed: Int64
    relabeled: UInt64_2
    keys: UInt64_2
    counts: Int64
    owner: Int32
    low: Int16
    high: Int16


class Checked(NamedTuple):
    """For each evaluated node its levels, (8, n) metrics, and (2, n) both parts of its loss."""

    levels: UInt64
    figures: Int64_2
    terms: Float64_2


@compiled
def advance(
    nodes: OpenNodes,
    tables: Tables,
    columns: PackedColumns,
    prices: LevelLosses,
    room: FrontierBuffers,
    checked: Checked,
    params: Int64,
    state: Int64,
    most: Float64,
    where: float,
    many: int,
):
    """Evaluate a number of open nodes, and close those that they exclude.

    Args:
        most: (1,) the largest loss that is still of interest.
        where: Position of the next node in the open part of the lattice: 0 its finest node, 1 its coarsest.
    """
    for _ in range(many):
        if state[OPEN] == 0:
            return
        visit(nodes, tables, columns, prices, room, checked, params, state, most, pick(nodes, state[OPEN], where))


@compiled
def look(
    nodes: OpenNodes,
    tables: Tables,
    columns: PackedColumns,
    prices: LevelLosses,
    room: FrontierBuffers,
    checked: Checked,
    params: Int64,
    state: Int64,
    most: Float64,
    level: np.uint64,
):
    """Evaluate one node, whether or not it is open."""
    visit(nodes, tables, columns, prices, room, checked, params, state, most, level)


@compiled
def pick(nodes, many, where):
    """Return the levels of the open node whose rank is nearest to a fraction of the way from lowest to highest."""
    target = nodes.ranks[0] + (nodes.ranks[many - 1] - nodes.ranks[0]) * where
    low, high = 0, many - 1
    while low < high:
        middle = (low + high) // 2
        if nodes.ranks[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low > 0 and target - nodes.ranks[low - 1] < nodes.ranks[low] - target:
        low -= 1
    return nodes.levels[low]


@compiled
def visit(nodes, tables, columns, prices, room, checked, params, state, most, level):
    """Group and evaluate a node, store the result, and close the nodes that it excludes."""
    place = state[CHECKED]
    number = classes_of(tables, columns, room, state, level)
    if number >= 0:
        begin, end = tables.ends[number - 1] if number else 0, tables.ends[number]
        tally_sizes(tables.counts[begin:end], params[K], checked.figures, place)
        keys, sizes = tables.keys[:, begin:end], tables.counts[begin:end]
    else:
        tally_sizes(room.counts[:-number], params[K], checked.figures, place)
        keys, sizes = room.keys[:, :-number], room.counts[:-number]
    lost, kept = checked.figures[SUPPRESSED, place], checked.figures[KEPT, place]
    holds = lost <= params[LIMIT] and kept > 0
    checked.figures[HOLDS, place] = 1 if holds else 0
    checked.levels[place] = level
    plain, added = loss_parts(keys, sizes, columns, prices, params, level, lost if holds else 0, kept)
    checked.terms[0, place], checked.terms[1, place] = plain, added
    state[CHECKED] = place + 1
    total = plain + added
    if holds and total + TIE * max(1.0, total) < most[0]:
        most[0] = total + TIE * max(1.0, total)
    floor = plain
    if params[LOSS] == AVERAGE:
        # A class that is kept at a coarser node contains one that is kept here, or k of the rows suppressed here.
        floor = params[ROWS] / max(kept + ((lost - 1) // params[K] + 1 if lost else 0), 1)
        added = 0.0
    # If no class is kept, none of a finer node is.
    close(nodes, columns.guard[0], state, most[0], level, lost > params[LIMIT] or kept == 0, floor, added)


@compiled
def close(nodes, guard, state, most, level, fails, floor, added):
    """Close the node, those below it if it fails, and those that cannot be better; compact the others."""
    keep = 0
    for place in range(state[OPEN]):
        other = nodes.levels[place]
        finer = (((level | guard) - other) & guard) == guard
        if finer and (fails or other == level):
            continue
        if finer:
            nodes.added[place] = max(nodes.added[place], added)
        elif (((other | guard) - level) & guard) == guard:
            nodes.floors[place] = max(nodes.floors[place], floor)
        if nodes.floors[place] + nodes.added[place] > most:
            continue
        nodes.levels[keep], nodes.ranks[keep] = other, nodes.ranks[place]
        nodes.floors[keep], nodes.added[keep] = nodes.floors[place], nodes.added[place]
        keep += 1
    state[OPEN] = keep


@compiled
def tally_sizes(sizes, k, figures, place):
    """Compute the metrics of a node's classes when those below k are suppressed."""
    lost, kept, smallest, largest = 0, 0, 0, 0
    least, greatest = sizes[0], sizes[0]
    for at in range(len(sizes)):
        size = sizes[at]
        least, greatest = min(least, size), max(greatest, size)
        if size < k:
            lost += size
        else:
            kept += 1
            largest = max(largest, size)
            smallest = size if kept == 1 else min(smallest, size)
    figures[SUPPRESSED, place], figures[KEPT, place] = lost, kept
    figures[SMALLEST, place], figures[LARGEST, place] = smallest, largest
    figures[CLASSES, place], figures[LEAST, place], figures[MOST, place] = len(sizes), least, greatest


@compiled
def loss_parts(keys, sizes, columns, prices, params, level, lost, kept):
    """Compute both parts of a node's loss, including suppression if rows may be suppressed."""
    kind, rows, k = params[LOSS], params[ROWS], params[K]
    if kind >= SQUARES:
        return class_loss(sizes, params, kept)
    levels = np.empty(len(columns.word), np.int64)
    plain = 0.0
    for column in range(len(levels)):
        levels[column] = np.int64((level >> columns.places[column]) & columns.bits[column])
        mean = prices.means[column, levels[column]]
        plain += prices.shares[column] * (np.log(1.0 + mean) if kind == LOGS else mean)
    if lost == 0:
        return plain, 0.0
    failing = np.zeros(len(sizes), np.bool_)
    for at in range(len(sizes)):
        failing[at] = sizes[at] < k
    charged = surcharges(
        keys, sizes, failing, columns.word, columns.shift, columns.mask, levels, prices.charges, prices.offsets,
        prices.constant,
    )  # fmt: skip
    whole = 0.0
    for column in range(len(levels)):
        mean = prices.means[column, levels[column]] + max(charged[column], 0.0) / max(rows, 1)
        whole += prices.shares[column] * (np.log(1.0 + mean) if kind == LOGS else mean)
    return plain, whole - plain


@compiled
def class_loss(sizes, params, kept):
    """Compute both parts of a loss of class sizes."""
    rows, k = params[ROWS], params[K]
    if params[LOSS] == SQUARES:
        squares, added = 0, 0
        for at in range(len(sizes)):
            size = sizes[at]
            squares += size * max(size, k)
            if size < k:
                added += size * (rows - k)
        return float(squares), float(added)
    plain = rows / max(len(sizes), 1)
    published = kept + (1 if kept < len(sizes) else 0)
    return plain, rows / max(published, 1) - plain


@compiled
def classes_of(tables, columns, room, state, level):
    """Return the index of a node's table, which is computed if not cached; negative: its classes, not cached.

    The columns with most values are generalized first, half of the others with each intermediate node: other nodes
    are likely to be grouped from these, too.
    """
    lifted = 0
    for column in columns.widest:
        if (level >> columns.places[column]) & columns.bits[column]:
            lifted += 1
    steps = 0
    while lifted >> steps:
        steps += 1
    number = 0
    for step in range(steps - 1, -1, -1):
        stone = stone_of(columns, level, lifted >> step)
        number = table_at(tables, state[TABLES], stone)
        if number < 0:
            number = roll(tables, columns, room, state, stone)
            if number < 0 and step:
                return roll(tables, columns, room, state, level)
    return number


@compiled
def stone_of(columns, level, lifted):
    """Return the levels of a node in its first lifted columns, the widest first; the others are not generalized."""
    stone, many = np.uint64(0), 0
    for column in columns.widest:
        own = level & (columns.bits[column] << columns.places[column])
        if own and many < lifted:
            stone |= own
            many += 1
    return stone


@compiled
def table_at(tables, many, level):
    """Return the index of a node's table; -1 if it is not cached."""
    for place in range(many):
        if tables.levels[place] == level:
            return place
    return -1


@compiled
def roll(tables, columns, room, state, level):
    """Compute a node's table from the smallest one that is nowhere coarser; returns like `classes_of`."""
    guard, many = columns.guard[0], state[TABLES]
    source, least = 0, tables.ends[0]
    for place in range(1, many):
        size = tables.ends[place] - tables.ends[place - 1]
        if size < least and (((level | guard) - tables.levels[place]) & guard) == guard:
            source, least = place, size
    begin, end = tables.ends[source - 1] if source else 0, tables.ends[source]
    for column in range(len(columns.word)):
        room.low[column] = np.int64((tables.levels[source] >> columns.places[column]) & columns.bits[column])
        room.high[column] = np.int64((level >> columns.places[column]) & columns.bits[column])
    keys = tables.keys[:, begin:end]
    relabeled = room.relabeled[:, :least]
    recode(
        keys, columns.word, columns.shift, columns.mask, room.low, room.high, columns.steps, columns.begins, relabeled
    )
    state[STAMP] += 1
    capacity = 16
    while capacity <= 2 * least:
        capacity *= 2
    hashed, sizes = room.hashed[:capacity], tables.counts[begin:end]
    free = tables.ends[many - 1]
    if free + least > len(tables.counts) or many == len(tables.levels):
        return -group(relabeled, sizes, hashed, state[STAMP], room.keys, room.counts, room.owner)
    made = group(relabeled, sizes, hashed, state[STAMP], tables.keys[:, free:], tables.counts[free:], room.owner)
    tables.levels[many], tables.ends[many] = level, free + made
    state[TABLES] = many + 1
    return many
