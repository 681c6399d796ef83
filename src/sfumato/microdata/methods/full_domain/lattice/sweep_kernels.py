"""Compiled loops of the sweep over a whole lattice: many nodes of a height are rolled up in one go.

Shapes: a height has n nodes of m columns; the classes of its nodes lie one node after the other, keys (w, classes).
"""

import numpy as np
from numba import njit

from sfumato.microdata.counts.grouping_kernels import group, lift
from sfumato.microdata.counts.kernels import surcharges, tally


@njit(cache=True, nogil=True)
def roll_up_nodes(
    keys,
    counts,
    begins,
    ends,
    columns,
    tables,
    offsets,
    word,
    shift,
    mask,
    table,
    stamp,
    lane,
    owner,
    out_keys,
    out_counts,
):
    """Roll some nodes of a height up from nodes below them, each by one step of one column.

    Args:
        keys, counts: classes of the height below; begins, ends: (n,) where each node's source lies in them.
        columns: (n,) the column that takes a step; tables, offsets: its labels one level up, shifted, and where they
            begin, as in `lift`.
        table, stamp: the hash table of `group`, and the last stamp used; lane: (w, longest source), owner: scratch.
        out_keys, out_counts: receive the classes, one node after the other.

    Returns:
        (n + 1,) where each node's classes begin.
    """
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


@njit(cache=True, nogil=True)
def tally_nodes(keys, counts, begins, ends, k, nodes, word, shift, mask, charges, offsets, constant, priced):
    """What each of some nodes comes to when classes below k are suppressed.

    Args:
        keys, counts: classes of a height; begins, ends: (n,) where each node's lie; nodes: (n, m) levels.
        charges, offsets, constant: what suppression adds, as in `surcharges`; priced: whether it is wanted.

    Returns:
        (8, n): suppressed rows, kept classes, smallest and largest of them, sum over all classes of
        size * max(size, k), the same over the suppressed ones, smallest and largest of all classes; and (n, m) what
        suppression adds for each column.
    """
    figures = np.zeros((8, len(nodes)), np.int64)
    added = np.zeros((len(nodes), len(word)))
    for node in range(len(nodes)):
        sizes = counts[begins[node] : ends[node]]
        squares, lost = 0, 0
        for size in sizes:
            pays = size * max(size, k)
            squares += pays
            if size < k:
                lost += pays
        failing = sizes < k
        figures[0, node], figures[1, node], figures[2, node], figures[3, node], least, most = tally(sizes, failing)
        figures[4, node], figures[5, node] = squares, lost
        figures[6, node], figures[7, node] = least, most
        if priced and figures[0, node]:
            labels = keys[:, begins[node] : ends[node]]
            added[node] = surcharges(labels, sizes, failing, word, shift, mask, nodes[node], charges, offsets, constant)
    return figures, added
