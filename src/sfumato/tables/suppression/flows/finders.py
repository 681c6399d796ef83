"""Choose how to find flows: programs over all cells or over boxes, paths in a graph, or cubes."""

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flows.box_flows import Boxes
from sfumato.tables.suppression.flows.flow import GENEROUS, Finder, Flow
from sfumato.tables.suppression.flows.flow_programs import FlowPrograms
from sfumato.tables.suppression.flows.hypercube_flows import HypercubeFlows
from sfumato.tables.suppression.flows.path_flows import Paths, network_of
from sfumato.tables.suppression.problem import SuppressionProblem, Threat

# Up to so many cells one program over all of them is quick enough, and finds the cheapest.
FEW_CELLS = 2_000


class Finders:
    """Ways of finding flows: what the first does not find the last may, or, when patience is over, a quick one."""

    def __init__(self, first: Finder, last: Finder | None = None, quick: Finder | None = None) -> None:
        self._first, self._last, self._quick = first, last, quick
        self._all = [finder for finder in (first, last, quick) if finder is not None]

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        for finder in self._all:
            finder.open(shares)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        for finder in self._all:
            finder.reopen(cell, share)

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        for finder in self._all:
            finder.reprice(cells, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER, patience: Deadline = FOREVER) -> Flow | None:
        """A flow that withstands a threat, or None when there is none, or none by the end.

        Args:
            threat: The threat.
            end: When to end.
            patience: Until when the cheapest is sought; then any that is quickly found will do.
        """
        if self._quick is not None and not patience.over:
            flow = self._thorough(threat, min(end, patience, key=lambda moment: moment.left))
            if flow is not None or not patience.over:
                return flow
        flow = None if self._quick is None else self._quick.find(threat, end)
        return flow or self._thorough(threat, end)

    def _thorough(self, threat: Threat, end: Deadline) -> Flow | None:
        flow = self._first.find(threat, end)
        return flow if flow is not None or self._last is None else self._last.find(threat, end)


class DeferredFinder:
    """Programs over all cells with ample room, which are made only when they are asked."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers) -> None:
        self._problem, self._prices, self._shares = problem, prices.copy(), np.ones(problem.size)
        self._made: FlowPrograms | None = None

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        self._shares = shares.astype(np.float64)
        if self._made is not None:
            self._made.open(shares)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        self._shares[cell] = share
        if self._made is not None:
            self._made.reopen(cell, share)

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        self._prices[cells] = prices
        if self._made is not None:
            self._made.reprice(cells, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest flow that withstands a threat, or None when there is none."""
        if self._made is None:
            self._made = FlowPrograms(self._problem, self._prices, GENEROUS)
            self._made.open(self._shares)
        return self._made.find(threat, end)


def finder_for(problem: SuppressionProblem, prices: Numbers) -> Finders:
    """What finds a flow of a problem wherever there is one.

    Args:
        problem: The problem.
        prices: What deviations cost.
    """
    last = DeferredFinder(problem, prices)
    if problem.size <= FEW_CELLS:
        return Finders(FlowPrograms(problem, prices), last)
    first = local_finder_for(problem, prices, FEW_CELLS)
    if isinstance(first, FlowPrograms):
        return Finders(first)
    if isinstance(first, Boxes) and problem.coordinates is not None:
        return Finders(first, last, HypercubeFlows(problem, prices, problem.coordinates))
    return Finders(first, last)


def local_finder_for(problem: SuppressionProblem, prices: Numbers, few: int) -> Finder:
    """What finds flows of a problem, but in large ones only near a threatened cell.

    Args:
        problem: The problem.
        prices: What deviations cost.
        few: Up to how many cells one program over all of them is asked.
    """
    network = network_of(problem.matrix) if problem.size > few else None
    if network is not None:
        return Paths(problem, prices, *network)
    if problem.size > few and problem.coordinates is not None:
        return Boxes(problem, prices, problem.coordinates)
    return FlowPrograms(problem, prices, GENEROUS)
