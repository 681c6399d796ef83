"""Compiled loops of local recoding: try nodes until one forms classes from rows that are not yet assigned.

Shapes: n combinations of m columns; `labels` and `costs` are (m, levels, values): for each column, level and value code
its label and the loss of a row with it. `left` holds the combinations not yet in a class.
"""

from typing import NamedTuple

import numpy as np

from sfumato.native.array_types import Bool, Float64, Float64_3, Int32_2, Int32_3, Int64, Int64_2, UInt64
from sfumato.native.dispatch import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
# A key of labels is exact below this; above it, equal keys are compared label by label.
_EXACT = 2.0**62


class LabelCosts(NamedTuple):
    """labels and costs (m, levels, values); widths: (m, levels) the number of labels of each level."""

    labels: Int32_3
    costs: Float64_3
    widths: Int64_2


class NodeBuffers(NamedTuple):
    """Buffers for the cells of a node: slots, stamps (2^b,), stamp (1,); owner, first, rows, good (n,)."""

    slots: Int64
    stamps: Int64
    stamp: Int64
    keys: UInt64
    owner: Int64
    first: Int64
    rows: Int64
    good: Bool


@compiled
def next_node(
    codes: Int32_2,
    counts: Int64,
    left: Int64,
    nodes: Int32_2,
    floors: Float64,
    start: int,
    k: int,
    limit: float,
    prices: LabelCosts,
    cells: NodeBuffers,
    stop: Int64,
):
    """Return the next node at which some cell of the remaining rows has k rows and costs no more than the limit.

    Args:
        nodes: (nodes, m) levels, in the order in which they are tried; floors: (nodes,) the least cost of their cells,
            which is raised to that of cells with k rows: as rows go, no further cell gets so many.
        start: The node to begin with.
        stop: (1,) a flag; once it is up, only the last node is tried.
        cells: Receives the cell of each combination left, its rows, first combination, and whether it is good.

    Returns:
        The node, or the number of nodes when there is none; and the number of cells.
    """
    for at in range(start, len(nodes)):
        if stop[0] and at + 1 < len(nodes):
            return len(nodes), 0
        if floors[at] > limit or floors[at] == np.inf:
            continue
        count = group_cells(codes, counts, left, nodes[at], prices, cells)
        some, least = False, np.inf
        for cell in range(count):
            cells.good[cell] = cells.rows[cell] >= k
            if cells.good[cell] and limit < np.inf:
                cost = cost_of(codes, cells.first[cell], nodes[at], prices)
                cells.good[cell] = cost <= limit
                least = min(least, cost)
            some |= cells.good[cell]
        if limit < np.inf:
            floors[at] = least
        if some:
            return at, count
    return len(nodes), 0


@compiled
def cost_of(codes, row, node, prices):
    """Return the loss of a row of a combination at a node."""
    cost = 0.0
    for column in range(len(node)):
        cost += prices.costs[column, node[column], codes[row, column]]
    return cost


@compiled
def group_cells(codes, counts, left, node, prices, cells):
    """Group combinations by their labels at a node; return the number of cells."""
    size = 1.0
    for column in range(len(node)):
        size *= prices.widths[column, node[column]]
    exact = size < _EXACT
    cells.stamp[0] += 1
    stamp = cells.stamp[0]
    last = np.uint64(len(cells.slots) - 1)
    count = 0
    for at in range(len(left)):
        row = left[at]
        key = np.uint64(0)
        for column in range(len(node)):
            width = np.uint64(prices.widths[column, node[column]])
            key = key * width + np.uint64(prices.labels[column, node[column], codes[row, column]])
        slot = ((key * _MIX) >> np.uint64(20)) & last
        while True:
            if cells.stamps[slot] != stamp:
                cells.stamps[slot] = stamp
                cells.slots[slot] = count
                cells.keys[count] = key
                cells.first[count] = row
                cells.rows[count] = 0
                count += 1
                break
            cell = cells.slots[slot]
            if cells.keys[cell] == key and (exact or alike(codes, row, cells.first[cell], node, prices)):
                break
            slot = (slot + _ONE) & last
        cell = cells.slots[slot]
        cells.rows[cell] += counts[row]
        cells.owner[at] = cell
    return count


@compiled
def alike(codes, one, other, node, prices):
    """Return whether two combinations have the same labels at a node."""
    for column in range(len(node)):
        labels = prices.labels[column, node[column]]
        if labels[codes[one, column]] != labels[codes[other, column]]:
            return False
    return True
