"""Solve the attackers' programs of a round in parallel: each worker has a program of its own and a share of the cells.

The shares depend on the problem alone, not on the machine: the result is the same for any number of cores.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np

from sfumato.tables.cells.cells import Numbers
from sfumato.tables.deadline import Deadline
from sfumato.tables.suppression.flows.flow import GENEROUS
from sfumato.tables.suppression.flows.flow_cache import FlowMemory
from sfumato.tables.suppression.flows.flow_programs import FlowPrograms
from sfumato.tables.suppression.problem import SuppressionProblem, Threat

# With fewer threats a second guard would cost more than he saves.
MANY = 100
COUNT = 2


class ParallelAttackers:
    """Finds, for a point of the master program, the threats that it does not withstand."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        count = COUNT if len(problem.threats) >= MANY else 1
        # Every threat that is withstood needs its flow at hand where insiders attack: it tells who contradicts it. Room
        # of one need is quicker to search, but elsewhere than in networks it may be too little.
        generous = GENEROUS if problem.attackers else 1.0
        self._finders = [FlowPrograms(problem, np.ones(problem.size), generous) for _ in range(count)]
        self._proofs = [FlowMemory(finder) for finder in self._finders]
        cells = sorted({threat.cell for threat in problem.threats})
        self._shift = {cell: place * count // len(cells) for place, cell in enumerate(cells)}

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        for finder in self._finders:
            finder.open(shares)

    def failed(self, threats: Sequence[Threat], end: Deadline) -> list[Threat]:
        """The threats that are not withstood, or not by the end, in their order; the guards work at the same time."""
        if len(self._proofs) == 1:
            return [threat for threat in threats if end.over or not self._proofs[0].hold(threat, end)]
        shifts = [[threat for threat in threats if self._shift[threat.cell] == own] for own in range(len(self._proofs))]
        with ThreadPoolExecutor(len(shifts)) as pool:
            lost = set().union(*pool.map(_lost, self._proofs, shifts, repeat(end)))
        return [threat for threat in threats if threat in lost]

    def insiders(self) -> list[Threat]:
        """The attacks of single respondents that the flows at hand do not withstand already."""
        return [threat for proofs in self._proofs for threat in proofs.insiders(self._problem)]


def _lost(proofs: FlowMemory, threats: Sequence[Threat], end: Deadline) -> set[Threat]:
    return {threat for threat in threats if end.over or not proofs.hold(threat, end)}
