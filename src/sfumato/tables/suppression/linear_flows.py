"""Flows by linear programs over all cells, and among few suppressed cells by compiled simplex steps."""

import numpy as np

from sfumato.tables.cells.system import Bounds, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.problem import GENEROUS, OUTSIDER, Flow, SuppressionProblem, Threat, flow_of


class FlowPrograms:
    """Finds flows by one linear program, warm-started between threats; each direction of a cell is a column.

    Capacities are limited to the largest need. In a network no flow exceeds it; in other tables `generous` multiplies
    it, so that no flow is missed.
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
        """Open each cell by a share of its capacity (1 for a suppressed cell, 0 for a published one)."""
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
        """Return the cheapest flow that protects against a threat; None if there is none."""
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


class DeferredFinder:
    """Programs over all cells with ample capacity, which are built when they are first used."""

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
        """Return the cheapest flow that protects against a threat; None if there is none."""
        if self._made is None:
            self._made = FlowPrograms(self._problem, self._prices, GENEROUS)
            self._made.open(self._shares)
        return self._made.find(threat, end)


# Tolerance for constraints of a found flow, relative to the need.
OFF = 1e-9
# A shortfall below the first share counts as reached; below the second, linear programs decide.
ALL, NEARLY = 1e-9, 1e-6


class Tableau:
    """Finds flows of a problem of few cells by the simplex method; each flow starts from the tableau of the one before.

    In a pattern without superfluous suppressions few cells can move independently. A program over these cells alone is
    a hundred times faster than one over all cells and constraints. Every result is checked, and linear programs decide
    the cases that remain open.
    """

    def __init__(self, problem: SuppressionProblem, prices: Numbers) -> None:
        limit = problem.largest_need * GENEROUS
        self.problem, self._prices = problem, prices.copy()
        self._up, self._down = np.minimum(problem.up, limit), np.minimum(problem.down, limit)
        self._shares = np.ones(problem.size)
        self._wanted = np.zeros(problem.size, bool)
        self._wanted[[threat.cell for threat in problem.threats]] = True
        self._programs = DeferredFinder(problem, prices)
        self._begin()

    def _begin(self) -> None:
        self._rates, self._bound, self._free = _rates_of(self.problem.matrix.toarray())

    @property
    def stuck(self) -> bool:
        """Whether a threatened cell cannot move at all; otherwise it may still move too little."""
        from sfumato.tables.suppression.kernels import any_stuck

        return bool(any_stuck(self._rates, self._bound, self._free, self._shares == 0.0, self._wanted))

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        self._shares = shares.astype(np.float64)
        self._programs.open(shares)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        from sfumato.tables.suppression.kernels import release

        self._shares[cell] = share
        if share == 0.0:
            release(self._rates, self._bound, self._free, self._shares == 0.0, cell)
        self._programs.reopen(cell, share)

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        self._prices[cells] = prices
        self._programs.reprice(cells, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """Return a flow that protects against a threat; None if there is none, or none is found in time."""
        flow, short = self._tried(threat)
        if flow is None and not short:
            self._begin()
            flow, short = self._tried(threat)
        return flow if flow is not None or short else self._programs.find(threat, end)

    def quickly(self, threat: Threat) -> Flow | None:
        """Return a flow that is found without linear programs; None if there is none, or none that passes the check."""
        return self._tried(threat)[0]

    def _tried(self, threat: Threat) -> tuple[Flow | None, bool]:
        """Return a flow or None, and whether it is certain that none exists.

        A flow without cells of insiders protects against all of them, so it is tried first.
        """
        if threat.attacker == OUTSIDER and self.problem.known.any():
            _, net = self._push(threat, np.where(self.problem.known, 0.0, self._shares))
            if self._withstands(net, threat):
                return flow_of(net, threat.need), False
        reached, net = self._push(threat, self._shares)
        if self._withstands(net, threat):
            return flow_of(net, threat.need), False
        return None, 0.0 <= reached < threat.need * (1 - NEARLY)

    def _push(self, threat: Threat, shares: Numbers) -> tuple[float, Numbers]:
        """Return how far the threatened cell can move, up to the need, and the moves of all cells."""
        from sfumato.tables.suppression.kernels import push

        up, down = self._up * shares, self._down * shares
        if threat.attacker != OUTSIDER:
            own = self.problem.part_of(threat.attacker)
            up[own.cells], down[own.cells] = np.minimum(up[own.cells], own.up), np.minimum(down[own.cells], own.down)
        net, amount = np.zeros(self.problem.size), threat.sign * threat.need
        args = (self._rates, self._bound, self._free, down, up, self._prices, threat.cell, amount, net)
        return float(push(*args)), net

    def _withstands(self, net: Numbers, threat: Threat) -> bool:
        """Return whether moves cover the need and satisfy every linear constraint."""
        if net[threat.cell] * threat.sign < threat.need * (1 - ALL):
            return False
        return float(np.abs(self.problem.matrix @ net).max(initial=0.0)) <= OFF * threat.need


def _rates_of(matrix: Numbers) -> tuple[Numbers, Places, Places]:
    """Return how basic cells move with free ones such that matrix · y = 0: rates, basic cells, free cells.

    >>> rates, bound, free = _rates_of(np.array([[1.0, -1.0, -1.0]]))
    >>> rates.tolist(), bound.tolist(), free.tolist()
    ([[1.0, 1.0]], [0], [1, 2])
    """
    left, bound = matrix.copy(), []
    for row in range(len(left)):
        column = int(np.abs(left[row]).argmax())
        if abs(left[row, column]) < NEARLY:
            left[row] = 0.0
            continue
        left[row] /= left[row, column]
        factors = left[:, column].copy()
        factors[row] = 0.0
        touched = np.flatnonzero(factors)
        left[touched] -= np.outer(factors[touched], left[row])
        bound.append((row, column))
    rows, columns = [row for row, _ in bound], [column for _, column in bound]
    free = np.setdiff1d(np.arange(left.shape[1]), columns)
    rates = -left[rows][:, free]
    return np.ascontiguousarray(np.where(np.abs(rates) > 1e-12, rates, 0.0)), np.array(columns, np.int64), free
