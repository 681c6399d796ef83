"""The master program of optimal suppression: binary cell variables, and the cuts that the attackers teach it."""

from dataclasses import dataclass

import numpy as np

from sfumato.tables.attackers import solver
from sfumato.tables.cells import Mask, Numbers, Places
from sfumato.tables.problem import Problem, Threat

TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Cut:
    """Σ weights · x ≥ least: what every protected pattern satisfies."""

    cells: Places
    weights: Numbers
    least: float

    def short(self, shares: Numbers) -> float:
        """By how much a point violates the cut."""
        return float(self.least - self.weights @ shares[self.cells])


def capacity_cut(problem: Problem, threat: Threat, directions: Numbers) -> Cut | None:
    """The capacity that must be open for a threat to be withstood, truncated at the requirement.

    The multipliers express the threatened cell through the others, so the room of the others limits its room. Cells
    that are masked anyway give their room for nothing: what is left is asked of the rest, and no cell counts for
    more than that (Fischetti and Salazar-González 2001, doi:10.1287/mnsc.47.7.1008.9805).
    """
    used = np.flatnonzero(np.abs(directions) > 1e-9)
    used = used[(used != threat.cell) & ~np.isin(used, threat.known)]
    room = np.where(directions[used] > 0, problem.up[used], problem.down[used]) * np.abs(directions[used])
    free = ~problem.forced[used]
    least = threat.need - float(room[~free].sum())
    if least <= 1e-9 * threat.need:
        return None
    weights = np.minimum(room[free], least) / least
    counted = weights > 1e-9
    return Cut(used[free][counted], weights[counted], 1.0)


class Master:
    """The relaxation: cuts so far, solved as a linear or as an integer program."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._highs = solver()
        self._highs.addVars(problem.size, np.where(problem.forced, 1.0, 0.0), np.ones(problem.size))
        self._all = np.arange(problem.size, dtype=np.int32)
        self._highs.changeColsCost(problem.size, self._all, problem.costs)
        self._known: set[tuple[bytes, bytes, float]] = set()
        self.shares: Numbers = np.where(problem.forced, 1.0, 0.0)
        self.bound = 0.0
        self.integer = False

    @property
    def cuts(self) -> int:
        return len(self._known)

    def add(self, cut: Cut | None) -> bool:
        """Add a cut, unless it is known already; a cut that nothing can satisfy makes the program infeasible."""
        if cut is None:
            return False
        key = (cut.cells.tobytes(), np.round(cut.weights, 6).tobytes(), cut.least)
        if key in self._known:
            return False
        self._known.add(key)
        self._highs.addRow(cut.least, np.inf, len(cut.cells), cut.cells.astype(np.int32), cut.weights)
        return True

    def solve(self, seconds: float) -> bool:
        """Solve the relaxation within a time; whether it was solved to the end."""
        import highspy

        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 0.05))
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            self._read()
            self.bound = max(self.bound, self._dual_bound())
            return True
        if self.integer and self._highs.getInfo().primal_solution_status == 2:
            self._read()
        if self.integer:
            self.bound = max(self.bound, self._dual_bound())
        return False

    def _read(self) -> None:
        self.shares = np.clip(np.array(self._highs.getSolution().col_value), 0.0, 1.0)
        if self.integer:
            self.shares = np.round(self.shares)

    def _dual_bound(self) -> float:
        info = self._highs.getInfo()
        bound = info.mip_dual_bound if self.integer else info.objective_function_value
        return float(bound) if np.isfinite(bound) else 0.0

    def to_integers(self) -> None:
        """Ask for whole numbers from now on."""
        import highspy

        kinds = np.full(self._problem.size, highspy.HighsVarType.kInteger)
        self._highs.changeColsIntegrality(self._problem.size, self._all, kinds)
        self._highs.setOptionValue("mip_rel_gap", 1e-9)
        self.integer = True

    def suggest(self, masked: Mask) -> None:
        """Tell the integer program a pattern that is protected."""
        import highspy

        solution = highspy.HighsSolution()
        solution.col_value = np.where(masked, 1.0, 0.0).tolist()
        self._highs.setSolution(solution)


def relation_cuts(problem: Problem) -> list[Cut]:
    """The capacity cuts that single relations give: where a threatened cell stands, others must be masked."""
    found = []
    matrix = problem.columns
    for threat in problem.threats:
        for relation in matrix.indices[matrix.indptr[threat.cell] : matrix.indptr[threat.cell + 1]]:
            found.append(capacity_cut(problem, threat, _relation_directions(problem, threat, relation)))
    return [cut for cut in found if cut is not None]


def _relation_directions(problem: Problem, threat: Threat, relation: int) -> Numbers:
    span = slice(problem.matrix.indptr[relation], problem.matrix.indptr[relation + 1])
    cells, coefs = problem.matrix.indices[span], problem.matrix.data[span]
    own = coefs[cells == threat.cell][0]
    directions = np.zeros(problem.size)
    directions[cells] = -threat.sign * coefs / own
    return directions


class Bridges:
    """Cuts against bridges: a cell masked alone in a relation can be computed, so masking it was for nothing."""

    def __init__(self, problem: Problem) -> None:
        self._matrix = problem.matrix.tocsr()
        self._rows = np.repeat(np.arange(self._matrix.shape[0]), np.diff(self._matrix.indptr))
        self._free = ~problem.forced[self._matrix.indices]

    def violated(self, shares: Numbers) -> list[Cut]:
        """The cuts that a point violates."""
        matrix = self._matrix
        own = shares[matrix.indices]
        sums = np.bincount(self._rows, own, matrix.shape[0])
        places = np.flatnonzero(self._free & (2 * own > sums[self._rows] + 1e-4))
        return [self._cut(int(place)) for place in places]

    def _cut(self, place: int) -> Cut:
        row = self._rows[place]
        cells = self._matrix.indices[self._matrix.indptr[row] : self._matrix.indptr[row + 1]].astype(np.int64)
        weights = np.where(cells == self._matrix.indices[place], -1.0, 1.0)
        return Cut(cells, weights, 0.0)
