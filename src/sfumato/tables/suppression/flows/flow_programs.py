"""Flows by linear programs over all cells at once: exact, for tables of any kind."""

import numpy as np

from sfumato.tables.cells.system import Bounds, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.flows.flow import Flow, flow_of
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat


class FlowPrograms:
    """Finds flows on one linear program, hot from one to the next: both directions of a cell are columns of their own.

    Capacities are cut at the largest need: in a network no more than that ever flows, elsewhere `generous` multiplies
    it so that nothing is lost.
    """

    def __init__(self, problem: SuppressionProblem, prices: Numbers, generous: float = 1.0) -> None:
        from scipy.sparse import hstack

        limit = problem.largest_need * generous
        self.problem, self._size = problem, problem.size
        self._up, self._down = np.minimum(problem.up, limit), np.minimum(problem.down, limit)
        self.room_up, self.room_down = self._up.copy(), self._down.copy()
        self._all = np.arange(2 * self._size, dtype=np.int32)
        both = hstack([problem.matrix, -problem.matrix])
        room = np.concatenate([self._up, self._down])
        self._highs = linear_program(both, np.concatenate([prices, prices]), Bounds(np.zeros(len(room)), room))

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity (1 for a masked cell, 0 for a published one)."""
        self.room_up, self.room_down = self._up * shares, self._down * shares
        room = np.concatenate([self.room_up, self.room_down])
        self._highs.changeColsBounds(len(self._all), self._all, np.zeros(len(room)), room)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        self.room_up[cell], self.room_down[cell] = self._up[cell] * share, self._down[cell] * share
        self._bounds(cell, self.room_up[cell], self.room_down[cell])

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        columns = np.concatenate([cells, cells + self._size]).astype(np.int32)
        self._highs.changeColsCost(len(columns), columns, np.concatenate([prices, prices]))

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest flow that withstands a threat, or None when there is none."""
        forward, backward = (0, self._size) if threat.sign > 0 else (self._size, 0)
        self._highs.changeColBounds(threat.cell + forward, threat.need, threat.need)
        self._highs.changeColBounds(threat.cell + backward, 0.0, 0.0)
        own = self.problem.part_of(threat.attacker) if threat.attacker != OUTSIDER else None
        for cell, up, down in zip(own.cells.tolist(), own.up, own.down, strict=True) if own else ():
            if cell != threat.cell:
                self._bounds(cell, min(up, self.room_up[cell]), min(down, self.room_down[cell]))
        values = np.array(self._highs.getSolution().col_value) if solved(self._highs, end.left) else None
        for cell in (threat.cell, *(own.cells.tolist() if own else ())):
            self._bounds(cell, self.room_up[cell], self.room_down[cell])
        return None if values is None else flow_of(values[: self._size] - values[self._size :], threat.need)

    def _bounds(self, cell: int, up: float, down: float) -> None:
        self._highs.changeColBounds(cell, 0.0, up)
        self._highs.changeColBounds(cell + self._size, 0.0, down)
