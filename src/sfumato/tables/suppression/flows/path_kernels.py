"""Compiled loops: cheapest paths in the graph of a table, relations as nodes and cells as edges."""

import numpy as np

from sfumato.native.array_types import Bool, Float64, Int64
from sfumato.native.dispatch import compiled


@compiled
def _sift_up(costs, nodes, place):
    while place > 0:
        parent = (place - 1) // 2
        if costs[parent] <= costs[place]:
            break
        costs[parent], costs[place] = costs[place], costs[parent]
        nodes[parent], nodes[place] = nodes[place], nodes[parent]
        place = parent


@compiled
def _sift_down(costs, nodes, size):
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and costs[child + 1] < costs[child]:
            child += 1
        if costs[place] <= costs[child]:
            break
        costs[child], costs[place] = costs[place], costs[child]
        nodes[child], nodes[place] = nodes[place], nodes[child]
        place = child


@compiled
def _path_back(cells, plus, via, before, start, goal):
    """The cells from the start to the goal and their signs; none where the goal was not reached."""
    length = 0
    node = goal
    while node != start and before[node] >= 0:
        length += 1
        node = before[node]
    if node != start:
        return np.empty(0, np.int64), np.empty(0)
    path, signs = np.empty(length, np.int64), np.empty(length)
    node = goal
    for place in range(length):
        path[place] = cells[via[node]]
        signs[place] = -1.0 if plus[via[node]] else 1.0
        node = before[node]
    return path, signs


@compiled
def _with_room(costs, nodes, size):
    """The heap with room for one more node."""
    if size < len(costs):
        return costs, nodes
    more_costs, more_nodes = np.empty(2 * size), np.empty(2 * size, np.int64)
    more_costs[:size], more_nodes[:size] = costs, nodes
    return more_costs, more_nodes


@compiled
def cheapest_path(
    starts: Int64,
    cells: Int64,
    others: Int64,
    plus: Bool,
    prices: Float64,
    up: Float64,
    down: Float64,
    need: float,
    own: int,
    start: int,
    goal: int,
):
    """The cheapest path from one relation to another whose cells all have room for the need.

    Args:
        starts: (n + 1) where each node's edges begin; cells, others, plus: (m) the cell of an edge, the node at its
            other end, and whether the cell counts positively at this one.
        prices, up, down: (cells) what a cell costs, infinite where it is published, and its room.
        need, own: what must flow, and the cell that it is for; start, goal: nodes.

    Returns:
        The cells of the path and their signs; none where there is no path.
    """
    count = len(starts) - 1
    cost = np.full(count, np.inf)
    done = np.zeros(count, np.bool_)
    via = np.full(count, -1, np.int64)
    before = np.full(count, -1, np.int64)
    heap_costs, heap_nodes = np.empty(1024), np.empty(1024, np.int64)
    cost[start], heap_costs[0], heap_nodes[0], size = 0.0, 0.0, start, 1
    while size:
        node = heap_nodes[0]
        size -= 1
        heap_costs[0], heap_nodes[0] = heap_costs[size], heap_nodes[size]
        _sift_down(heap_costs, heap_nodes, size)
        if done[node]:
            continue
        if node == goal:
            break
        done[node] = True
        for edge in range(starts[node], starts[node + 1]):
            cell, other = cells[edge], others[edge]
            if done[other] or cell == own:
                continue
            reached = cost[node] + prices[cell]
            if reached >= cost[other] or reached >= cost[goal]:
                continue
            if (down[cell] if plus[edge] else up[cell]) < need:
                continue
            cost[other], via[other], before[other] = reached, edge, node
            heap_costs, heap_nodes = _with_room(heap_costs, heap_nodes, size)
            heap_costs[size], heap_nodes[size] = reached, other
            _sift_up(heap_costs, heap_nodes, size)
            size += 1
    return _path_back(cells, plus, via, before, start, goal)
