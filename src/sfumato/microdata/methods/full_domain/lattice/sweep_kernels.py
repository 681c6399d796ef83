"""Compiled loops of the sweep over a full lattice: many nodes of a height are grouped in one call.

Shapes: a height has n nodes of m columns; the classes of its nodes are stored one node after the other, keys (w,
classes).
"""

import numpy as np

from sfumato.microdata.counts.grouping_kernels import group, lift
from sfumato.microdata.counts.kernels import surcharges, tally
from sfumato.native.array_types import Float64, Float64_2, Int32, Int64, Int64_2, UInt64, UInt64_2
from sfumato.native.dispatch import compiled


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
