"""Which way of finding flows suits a problem: programs over all cells, paths in a graph, or programs over boxes."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flows.boxes import Boxes
from sfumato.tables.suppression.flows.flow import GENEROUS, Finder, Flow
from sfumato.tables.suppression.flows.flow_programs import FlowPrograms
from sfumato.tables.suppression.flows.paths import Paths, network_of
from sfumato.tables.suppression.problem import Problem, Threat

# Up to so many cells one program over all of them is quick enough, and finds the cheapest.
FEW_CELLS = 2_000


class Finders:
    """Ways of finding flows, one after the other: what the first does not find the next may."""

    def __init__(self, first: Finder, *others: "Lazy") -> None:
        self._first, self._others = first, others

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        for finder in (self._first, *self._others):
            finder.open(shares)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        for finder in (self._first, *self._others):
            finder.reopen(cell, share)

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        for finder in (self._first, *self._others):
            finder.reprice(cells, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The flow that the first of them finds."""
        return next((flow for finder in (self._first, *self._others) if (flow := finder.find(threat, end))), None)


class Lazy:
    """Programs over all cells with ample room, which are made only when they are asked."""

    def __init__(self, problem: Problem, prices: Numbers) -> None:
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


def finder_for(problem: Problem, prices: Numbers, thorough: bool = True, few: int = FEW_CELLS) -> Finder:
    """What finds flows of a problem.

    Args:
        problem: The problem.
        prices: What deviations cost.
        thorough: Whether a flow is found wherever there is one.
        few: Up to how many cells one program over all of them is asked at once.
    """
    last: Sequence[Lazy] = [Lazy(problem, prices)] if thorough else []
    if problem.size <= few:
        return Finders(FlowPrograms(problem, prices), *last) if thorough else FlowPrograms(problem, prices, GENEROUS)
    network = network_of(problem.matrix)
    if network is not None:
        return Finders(Paths(problem, prices, *network), *last)
    if problem.coordinates is not None:
        return Finders(Boxes(problem, prices, problem.coordinates), *last)
    return FlowPrograms(problem, prices, GENEROUS)
