"""Flows along cubes: one other code in each dimension; all corners move by the same amount, with alternating signs.

Corners that differ from the attacked cell in an odd number of dimensions move against it, the others with it: every sum
is unchanged. If codes have codes below them, a whole branch moves, from the finest code up to where the two branches
meet. Nothing is solved: the cheapest of the examined cubes is taken. It need not be the cheapest flow, but in tables of
many dimensions it takes milliseconds (Giessing, S., Repsilber, D. (2002). Tools and strategies to protect multiple
tables with the GHQUAR cell suppression engine, https://doi.org/10.1007/3-540-47804-3).
"""

import math

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.cells.coordinates import NOWHERE, Coordinates
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flows.branches import Branches, BranchMoves
from sfumato.tables.suppression.flows.flow import Flow
from sfumato.tables.suppression.flows.movable_cells import OpenCells
from sfumato.tables.suppression.problem import SuppressionProblem, Threat

# About how many cubes are looked at, and how many cells they may have between them.
CUBES, CELLS = 8_000, 40_000
# What a cell counts for that cannot move so far.
DEAR = 1e9


class HypercubeFlows(OpenCells):
    """Finds flows along cubes."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        super().__init__(problem, prices, coordinates)
        self._ways = [BranchMoves(above) for above in coordinates.above]
        self._width = max(int(CUBES ** (1 / len(self._ways))), 2)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest cube at a threatened cell, or None when there is none."""
        if end.over or self._codes[threat.cell].min() == NOWHERE:
            return None
        costs, width = self._costs(threat), self._width
        branches = self._branches(threat.cell, costs, width)
        while width > 1 and math.prod(len(branch.codes) for branch in branches) > CELLS:
            width //= 2
            branches = self._branches(threat.cell, costs, width)
        return self._cheapest_cube(threat, branches, costs)

    def _branches(self, cell: int, costs: Numbers, width: int) -> list[Branches]:
        """So many ways to move in each dimension, the cheapest ones."""
        own, branches = self._codes[cell], []
        for dimension, ways in enumerate(self._ways):
            codes = [np.array([code]) for code in own]
            codes[dimension] = np.arange(ways.size)
            line = self._grid.cells(codes).ravel()
            branches.append(ways.cheapest(int(own[dimension]), costs[:, line], width))
        return branches

    def _costs(self, threat: Threat) -> Numbers:
        """What each cell costs that moves with the threatened one, and that moves against it; nothing last."""
        up, down = self._problem.room(threat)
        directions = (up, down) if threat.sign > 0 else (down, up)
        costs = np.full((2, self._problem.size + 1), DEAR)
        for own, room in zip(costs, directions, strict=True):
            own[:-1] = np.where(self._open & (room >= threat.need), self._prices, DEAR)
        costs[:, threat.cell] = 0.0, DEAR
        return costs

    def _cheapest_cube(self, threat: Threat, branches: list[Branches], costs: Numbers) -> Flow | None:
        cells = self._grid.cells([branch.codes for branch in branches])
        together, against = costs[0, cells], costs[1, cells]
        for branch in branches:
            # The first dimension that is left becomes that of the options, and goes last.
            together, against = (
                np.tensordot(together, branch.together, (0, 1)) + np.tensordot(against, branch.against, (0, 1)),
                np.tensordot(against, branch.together, (0, 1)) + np.tensordot(together, branch.against, (0, 1)),
            )
        best = np.unravel_index(int(np.argmin(together)), together.shape)
        if together[best] >= DEAR:
            return None
        amounts = np.full((), threat.sign * threat.need)
        for branch, option in zip(branches, best, strict=True):
            amounts = amounts[..., None] * (branch.together[option] - branch.against[option])
        return self._flow(cells[amounts != 0], amounts[amounts != 0])

    def _flow(self, cells: Places, amounts: Numbers) -> Flow | None:
        """The flow, where the sums of the table are those of its codes and nothing else."""
        order = np.argsort(cells)
        cells, amounts = cells[order], amounts[order]
        changed = self._problem.columns[:, cells] @ amounts
        balanced = np.abs(changed).max(initial=0.0) <= 1e-9 * np.abs(amounts).max()
        return Flow(cells, amounts) if balanced else None
