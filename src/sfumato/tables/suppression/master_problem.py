"""The master program of optimal suppression: binary cell variables, and the cuts found by the attackers' programs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import limit, solver
from sfumato.tables.suppression.problem import SuppressionProblem, Threat
from sfumato.values import Value


class Cut(Value):
    """A cut Σ weights · x ≥ least, which every protected pattern satisfies."""

    cells: Places
    weights: Numbers
    least: float

    def short(self, shares: Numbers) -> float:
        """Return by how much a point violates the cut."""
        return float(self.least - self.weights @ shares[self.cells])


def capacity_cut(problem: SuppressionProblem, threat: Threat, directions: Numbers) -> Cut | None:
    """Return the cut for the capacity that must be open to protect against a threat, truncated at the need.

    The multipliers express the threatened cell through the others, so the capacity of the others limits its capacity.
    Forced cells provide their capacity at no cost. The other cells must provide the rest, and no cell counts for more
    than the rest (Fischetti and Salazar-González 2001, doi:10.1287/mnsc.47.7.1008.9805).
    """
    used = np.flatnonzero(np.abs(directions) > 1e-9)
    used = used[used != threat.cell]
    up, down = problem.room(threat)
    room = np.where(directions[used] > 0, up[used], down[used]) * np.abs(directions[used])
    free = ~problem.forced[used]
    least = threat.need - float(room[~free].sum())
    if least <= 1e-9 * threat.need:
        return None
    weights = np.minimum(room[free], least) / least
    counted = weights > 1e-9
    return Cut(used[free][counted], weights[counted], 1.0)


class Master:
    """The relaxation: the cuts so far, as a warm-started linear program and as an integer program."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        self._linear = _program(problem)
        self._whole = _program(problem)
        self._whole.cbMipInterrupt += self._interrupt
        self._asked: Callable[[], bool] = lambda: False
        self._pending: list[Cut] = []
        self._known: set[tuple[bytes, bytes, float]] = set()
        self._integral = bool((problem.costs == np.round(problem.costs)).all())
        self.bound = 0.0

    def _interrupt(self, event: Any) -> None:
        """Stop the integer program if the user requests the best result so far."""
        if self._asked():
            event.interrupt()

    def add(self, cut: Cut | None) -> bool:
        """Add a cut, unless the program contains it; return whether it was added."""
        if cut is None:
            return False
        key = (cut.cells.tobytes(), np.round(cut.weights, 6).tobytes(), cut.least)
        if key in self._known:
            return False
        self._known.add(key)
        self._pending.append(cut)
        _add(self._linear, cut)
        return True

    def relax(self, seconds: float) -> Numbers | None:
        """Return the cheapest point of the linear program; None if the time limit is reached."""
        import highspy

        limit(self._linear, seconds)
        self._linear.run()
        if self._linear.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        self._raise(float(self._linear.getInfo().objective_function_value))
        return _point(self._linear)

    def solve(self, deadline: Deadline, best: BoolArray, gap: float = 0.0) -> tuple[Numbers | None, bool]:
        """Return the cheapest pattern of the integer program, and whether it was solved up to the gap."""
        import highspy

        for cut in self._pending:
            _add(self._whole, cut)
        self._pending = []
        kinds = np.full(self._problem.size, highspy.HighsVarType.kInteger)
        self._whole.changeColsIntegrality(len(kinds), np.arange(len(kinds), dtype=np.int32), kinds)
        solution = highspy.HighsSolution()
        solution.col_value = np.where(best, 1.0, 0.0).tolist()
        self._whole.setSolution(solution)
        self._whole.setOptionValue("mip_rel_gap", max(gap, 1e-9))
        limit(self._whole, deadline.left, whole=True)
        self._asked = deadline.asked
        self._whole.run()
        info = self._whole.getInfo()
        if np.isfinite(info.mip_dual_bound):
            self._raise(float(info.mip_dual_bound))
        solved = self._whole.getModelStatus() == highspy.HighsModelStatus.kOptimal
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        return (np.round(_point(self._whole)) if feasible else None), solved

    def _raise(self, bound: float) -> None:
        """Raise the lower bound; if all costs are integers, round it up."""
        self.bound = max(self.bound, np.ceil(bound - 1e-6) if self._integral else bound)


def _program(problem: SuppressionProblem) -> Any:
    highs = solver()
    # A protected pattern is always available, so no search for a first one is needed.
    highs.setOptionValue("mip_heuristic_run_feasibility_jump", False)
    highs.addVars(problem.size, np.where(problem.forced, 1.0, 0.0), np.ones(problem.size))
    highs.changeColsCost(problem.size, np.arange(problem.size, dtype=np.int32), problem.costs)
    return highs


def _add(highs: Any, cut: Cut) -> None:
    highs.addRow(cut.least, np.inf, len(cut.cells), cut.cells.astype(np.int32), cut.weights)


def _point(highs: Any) -> Numbers:
    return np.asarray(np.clip(np.array(highs.getSolution().col_value), 0.0, 1.0))


def relation_cuts(problem: SuppressionProblem, end: Deadline = FOREVER) -> list[Cut]:
    """Return the capacity cuts of single linear constraints, in which other cells must be suppressed as well.

    An insider who knows one of the other cells attacks, too, so one more cell must be suppressed. With thousands of
    coalitions these cuts take most of the time, so only the cuts against the outsider ignore the time limit.
    """
    cuts = []
    matrix = problem.columns
    places = [
        (threat, relation)
        for threat in problem.threats
        for relation in matrix.indices[matrix.indptr[threat.cell] : matrix.indptr[threat.cell + 1]]
    ]
    for threat, relation in places:
        cuts.append(capacity_cut(problem, threat, _relation_directions(problem, threat, relation)))
    for threat, relation in places:
        for attack in _attacks_within(problem, threat, relation):
            if end.over:
                return [cut for cut in cuts if cut is not None]
            cuts.append(capacity_cut(problem, attack, _relation_directions(problem, attack, relation)))
    return [cut for cut in cuts if cut is not None]


def _attacks_within(problem: SuppressionProblem, threat: Threat, relation: int) -> list[Threat]:
    """Return the same threat by insiders with a contribution to other cells of a linear constraint."""
    cells = problem.matrix.indices[problem.matrix.indptr[relation] : problem.matrix.indptr[relation + 1]]
    others = (cell for cell in cells.tolist() if cell != threat.cell)
    places = {place for cell in others for place, _, _ in problem.insiders.get(cell, ())}
    attacks = (problem.with_insiders(threat, place) for place in sorted(places))
    return [attack for attack in attacks if attack is not None]


def _relation_directions(problem: SuppressionProblem, threat: Threat, relation: int) -> Numbers:
    span = slice(problem.matrix.indptr[relation], problem.matrix.indptr[relation + 1])
    cells, coefs = problem.matrix.indices[span], problem.matrix.data[span]
    own = coefs[cells == threat.cell][0]
    directions = np.zeros(problem.size)
    directions[cells] = -threat.sign * coefs / own
    return directions


class Bridges:
    """Cuts against bridges: a cell suppressed alone in a linear constraint can be computed."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._matrix = problem.matrix.tocsr()
        self._rows = np.repeat(np.arange(self._matrix.shape[0]), np.diff(self._matrix.indptr))
        self._free = ~problem.forced[self._matrix.indices]

    def violated(self, shares: Numbers) -> list[Cut]:
        """Return the cuts that a point violates."""
        matrix = self._matrix
        own = shares[matrix.indices]
        sums = np.bincount(self._rows, own, matrix.shape[0])
        places = np.flatnonzero(self._free & (2 * own > sums[self._rows] + 1e-4))
        return [self._cut(int(place)) for place in places]

    def all(self) -> list[Cut]:
        """Return every cut against a bridge."""
        return [self._cut(int(place)) for place in np.flatnonzero(self._free)]

    def _cut(self, place: int) -> Cut:
        row = self._rows[place]
        cells = self._matrix.indices[self._matrix.indptr[row] : self._matrix.indptr[row + 1]].astype(np.int64)
        weights = np.where(cells == self._matrix.indices[place], -1.0, 1.0)
        return Cut(cells, weights, 0.0)
