"""Flows by shortest paths: if cells are in at most two relations, they are the edges of a graph.

A threatened cell is moved along a cycle of cells that all have the capacity needed. If only several cycles together
have it, a linear program is solved.
"""

from typing import Any

import numpy as np

from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flows.flow import SLACK, Flow
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat


class Paths:
    """Finds flows along cheapest paths."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, plus: Places, minus: Places) -> None:
        self._problem = problem
        self._plus, self._minus = plus, minus
        self._prices, self._closed = prices.copy(), np.zeros(problem.size, bool)
        self._up, self._down = problem.up * (1 + SLACK) + 1e-9, problem.down * (1 + SLACK) + 1e-9
        self._starts, self._cells, self._others, self._ends = _edges(plus, minus, int(max(plus.max(), minus.max())) + 1)
        self._open_prices = self._prices.copy()

    def open(self, shares: Numbers) -> None:
        """Open the masked cells."""
        self._closed = shares <= 0
        self._open_prices = np.where(self._closed, np.inf, self._prices)

    def reopen(self, cell: int, share: float) -> None:
        """Open or close one cell."""
        self._closed[cell] = share <= 0
        self._open_prices[cell] = np.inf if share <= 0 else self._prices[cell]

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        self._prices[cells] = prices
        self._open_prices[cells] = np.where(self._closed[cells], np.inf, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest cycle that withstands a threat, or None when there is none."""
        from sfumato.tables.suppression.flows.path_kernels import cheapest_path

        if end.over:
            return None
        part = self._problem.part_of(threat.attacker) if threat.attacker != OUTSIDER else None
        own = np.zeros(0, np.int64) if part is None else part.cells
        kept = self._up[own], self._down[own]
        if part is not None:
            self._up[own], self._down[own] = np.minimum(kept[0], part.up), np.minimum(kept[1], part.down)
        ends = int(self._plus[threat.cell]), int(self._minus[threat.cell])
        start, goal = ends if threat.sign > 0 else ends[::-1]
        graph = self._starts, self._cells, self._others, self._ends
        room = self._open_prices, self._up, self._down
        path, signs = cheapest_path(*graph, *room, threat.need, threat.cell, start, goal)
        self._up[own], self._down[own] = kept
        if not len(path) and start != goal:
            return None
        cells = np.append(path, threat.cell)
        order = np.argsort(cells)
        return Flow(cells[order], (np.append(signs, threat.sign) * threat.need)[order])


def _edges(plus: Places, minus: Places, nodes: int) -> tuple[Places, Places, Places, BoolArray]:
    """The edges of every node: where they begin, their cells, the nodes at their other ends, and which end is here."""
    here, there = np.concatenate([plus, minus]), np.concatenate([minus, plus])
    cells, ends = np.tile(np.arange(len(plus)), 2), np.repeat([True, False], len(plus))
    order = np.argsort(here, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=nodes))])
    return starts, cells[order], there[order], ends[order]


def network_of(matrix: Any) -> tuple[Places, Places] | None:
    """For each cell the relations in which it counts positively and negatively, after some change their sign.

    None where the table is no such network: a cell stands in three relations, or signs cannot be had.
    """
    columns = matrix.tocsc()
    columns.sort_indices()
    degree = np.diff(columns.indptr)
    if degree.max(initial=0) > 2 or (np.abs(columns.data) != 1).any():
        return None
    rows, size = matrix.shape
    first, second = np.full(size, rows), np.full(size, rows)
    own, both = degree > 0, degree == 2
    first[own], second[both] = columns.indices[columns.indptr[:-1][own]], columns.indices[columns.indptr[:-1][both] + 1]
    one, two = columns.data[columns.indptr[:-1][both]], columns.data[columns.indptr[:-1][both] + 1]
    signs = _signs(first[both], second[both], -one * two, rows)
    if signs is None:
        return None
    coefs = np.ones(size)
    coefs[own] = columns.data[columns.indptr[:-1][own]] * signs[first[own]]
    return np.where(coefs > 0, first, second), np.where(coefs > 0, second, first)


def _signs(first: Places, second: Places, product: Numbers, rows: int) -> Numbers | None:
    """Signs of relations whose products, for each pair, are as given; None where there are none."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    pairs = np.concatenate([first, second]), np.concatenate([second, first])
    links = csr_matrix((np.ones(2 * len(first)), pairs), shape=(rows, rows))
    wanted = dict(zip(zip(first.tolist(), second.tolist(), strict=True), product.tolist(), strict=True))
    signs = np.ones(rows)
    _, labels = connected_components(links, directed=False)
    for root in np.unique(labels, return_index=True)[1]:
        order, before = breadth_first_order(links, root, directed=False)
        for node in order[1:].tolist():
            last = int(before[node])
            signs[node] = signs[last] * wanted.get((last, node), wanted.get((node, last), 1.0))
    return signs if (signs[first] * signs[second] == product).all() else None
