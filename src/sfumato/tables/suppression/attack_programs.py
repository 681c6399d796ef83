"""The attackers' linear programs for optimal suppression: which cells limit how far a suppressed cell can move.

Deviations y from the true values satisfy M·y = 0 and stay within the capacities that suppression opens. The largest
deviation of a cell is a linear program; its dual names the cells that would have to be suppressed to move it further.
"""

import numpy as np

from sfumato.errors import InternalError
from sfumato.tables.cells.system import Bounds, Numbers
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.problem import SuppressionProblem, Threat

# Small capacity given to unmasked cells when a cut is sought: of all equally violated cuts it picks a sparse one.
WHISPER = 1e-4


class AttackerProgram:
    """All attackers of a problem on one linear program, hot-started from one to the next.

    Capacities are cut at the threat's need: in a network no more than that ever flows, elsewhere `generous` multiplies
    it so that nothing is lost.
    """

    def __init__(self, problem: SuppressionProblem, generous: float = 1.0) -> None:
        self._problem = problem
        self._generous = generous
        self._shares, self._end = np.zeros(problem.size), FOREVER
        zeros = np.zeros(problem.size)
        self._all = np.arange(problem.size, dtype=np.int32)
        self._highs = linear_program(problem.matrix, zeros, Bounds(zeros, zeros))

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        self._shares = shares

    def until(self, end: Deadline) -> None:
        """Attack no longer than that: an attack that is not over by then gets through nowhere."""
        self._end = end

    def directions(self, threat: Threat) -> Numbers | None:
        """The multipliers d with sign · y_cell = Σ d_j · y_j over the others, or None when the threat is withstood."""
        return self.attack(threat)[0]

    def attack(self, threat: Threat) -> tuple[Numbers | None, Numbers]:
        """The same multipliers, and the deviations of all cells, in units of the need, that move the cell furthest."""
        highs = self._highs
        self._bound(threat)
        highs.changeColCost(threat.cell, -float(threat.sign))
        answered = solved(highs, self._end.left)
        solution = highs.getSolution()
        highs.changeColCost(threat.cell, 0.0)
        if not answered:
            return self._unanswered()
        duals = np.array(solution.col_dual)
        reached = solution.col_value[threat.cell] * threat.sign
        own = 1.0 + threat.sign * duals[threat.cell]
        multipliers = -duals / own if reached < 1 - 1e-7 and own > 1e-9 else None
        return multipliers, np.array(solution.col_value)

    def _bound(self, threat: Threat) -> None:
        """Room in units of the need, so that every attack is equally well scaled."""
        limit = threat.need * self._generous
        room_up, room_down = self._problem.room(threat)
        up = np.minimum(room_up, limit) * self._shares / threat.need
        down = np.minimum(room_down, limit) * self._shares / threat.need
        up[threat.cell] = down[threat.cell] = 1.0
        self._highs.changeColsBounds(len(self._all), self._all, -down, up)

    def _unanswered(self) -> tuple[None, Numbers]:
        """No multipliers, where there was no time for them."""
        if not self._end.over:
            raise InternalError("attacker")
        return None, np.zeros(self._problem.size)
