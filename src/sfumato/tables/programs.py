"""Linear programs over the cells of a table: one HiGHS instance each, warm-started between runs."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import InternalError, missing_extra
from sfumato.tables.cells.cells import Bounds, Numbers, Places

PRIMAL_SIMPLEX = 4
# After so many steps of the simplex method, or as many as there are rows, a program starts anew by interior points.
STEPS, NO_LIMIT = 2_000, 2**31 - 1


def solver(**options: Any) -> Any:
    """A silent HiGHS instance."""
    try:
        import highspy
    except ImportError:
        raise missing_extra("highspy", "tables") from None
    highs = highspy.Highs()
    # One thread each: waiting workers would only steal time, and all instances of a process must agree.
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs


def linear_program(matrix: Any, costs: Numbers, bounds: Bounds, sides: Bounds | None = None) -> Any:
    """A HiGHS instance for: minimize costs·y, matrix·y within the sides (0 by default), y within its bounds."""
    highs = solver(presolve="off")
    import highspy

    model = highspy.HighsLp()
    columns = matrix.tocsc()
    nothing = np.zeros(matrix.shape[0])
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = costs, bounds.low, bounds.high
    model.row_lower_, model.row_upper_ = (nothing, nothing) if sides is None else (sides.low, sides.high)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = columns.indptr
    model.a_matrix_.index_ = columns.indices
    model.a_matrix_.value_ = columns.data
    highs.passModel(model)
    return highs


def limit(highs: Any, seconds: float, whole: bool = False) -> None:
    """Let the next run of a program take so many seconds.

    HiGHS counts the time of all runs of a linear program together, but that of an integer program from each run on.
    """
    highs.setOptionValue("time_limit", max(seconds, 0.05) + (0.0 if whole else highs.getRunTime()))


def solved(highs: Any, seconds: float = math.inf, whole: bool = False) -> bool:
    """Run a linear program from its last answer; whether it was solved within the time.

    In tables of many dimensions the simplex method may stand still for minutes: after as many steps as there are rows
    interior points find the answer from nothing, in a second.
    """
    from highspy import HighsModelStatus

    limit(highs, seconds, whole)
    highs.setOptionValue("simplex_iteration_limit", max(STEPS, highs.getNumRow()))
    highs.run()
    if highs.getModelStatus() == HighsModelStatus.kIterationLimit:
        highs.clearSolver()
        highs.setOptionValue("simplex_iteration_limit", NO_LIMIT)
        highs.setOptionValue("solver", "ipm")
        highs.run()
        highs.setOptionValue("solver", "choose")
    return bool(highs.getModelStatus() == HighsModelStatus.kOptimal)


def component_labels(matrix: Any) -> Places:
    """For each cell the number of its component: cells hang together that share relations."""
    from scipy.sparse import bmat
    from scipy.sparse.csgraph import connected_components

    # Cells and relations as one graph: that of cells alone has an edge for every pair in a relation.
    graph = bmat([[None, abs(matrix)], [abs(matrix).T, None]])
    _, labels = connected_components(graph, directed=False)
    _, numbers = np.unique(labels[matrix.shape[0] :], return_inverse=True)
    return np.asarray(numbers, np.int64)


@dataclass(frozen=True, slots=True)
class Extreme:
    """An extreme value of a cell, with the multipliers of the relations and of the bounds that prove it.

    `point` are the values of all cells there; none where there is no end.
    """

    value: float
    relations: Numbers
    bounds: Numbers
    point: Numbers


class Program:
    """What somebody holds possible of cells, as a linear (or integer) program."""

    def __init__(self, matrix: Any, bounds: Bounds, sides: Bounds | None = None, integer: bool = False) -> None:
        self._highs = linear_program(matrix, np.zeros(matrix.shape[1]), bounds, sides)
        self._integer = integer
        if integer:
            import highspy

            size = matrix.shape[1]
            kinds = np.full(size, highspy.HighsVarType.kInteger)
            self._highs.changeColsIntegrality(size, np.arange(size, dtype=np.int32), kinds)
            self._highs.setOptionValue("presolve", "choose")

    def feasible(self) -> bool:
        """Whether anything agrees with all of it."""
        from highspy import HighsModelStatus

        self._highs.run()
        return bool(self._highs.getModelStatus() == HighsModelStatus.kOptimal)

    def least(self, costs: Numbers, seconds: float) -> tuple[Numbers | None, bool]:
        """Values of all cells where costs · y is least, and whether it is, or the time was over; None without any."""
        from highspy import HighsModelStatus, SolutionStatus

        highs = self._highs
        highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
        limit(highs, seconds, self._integer)
        # Only costs change from one to the next, so the last answer is a place to start from: nine times as quick.
        highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        highs.run()
        solved = highs.getModelStatus() == HighsModelStatus.kOptimal
        possible = highs.getInfo().primal_solution_status == SolutionStatus.kSolutionStatusFeasible
        return np.array(highs.getSolution().col_value) if solved or possible else None, solved

    def extreme(self, place: int, direction: float) -> Extreme:
        """The least (direction 1) or greatest (-1) value of a cell, and why, however long that takes."""
        extreme = self.extreme_within(place, direction, math.inf)
        assert extreme is not None
        return extreme

    def extreme_within(self, place: int, direction: float, seconds: float) -> Extreme | None:
        """The least (direction 1) or greatest (-1) value of a cell, and why; None when the time was over before.

        Raises:
            InternalError: The program was not solved.
        """
        from highspy import HighsModelStatus as Status

        highs = self._highs
        open_ended = (Status.kUnbounded, Status.kUnboundedOrInfeasible)
        highs.changeColCost(place, direction)
        solved(highs, seconds, self._integer)
        if highs.getModelStatus() not in (Status.kOptimal, Status.kTimeLimit, *open_ended):
            # A start from the last answer may lead the solver nowhere; from nothing it finds its way.
            highs.clearSolver()
            highs.run()
        status = highs.getModelStatus()
        highs.changeColCost(place, 0.0)
        unbounded = Extreme(-direction * np.inf, np.zeros(highs.getNumRow()), np.zeros(highs.getNumCol()), np.zeros(0))
        if status in open_ended:
            return unbounded
        if status == Status.kTimeLimit:
            return None
        if status != Status.kOptimal:
            raise InternalError("the program of what is possible was not solved.", code="attack")
        solution = highs.getSolution()
        point = np.array(solution.col_value)
        if self._integer:
            return replace(unbounded, value=float(point[place]), point=point)
        return Extreme(float(point[place]), np.array(solution.row_dual), np.array(solution.col_dual), point)

    def bound(self, place: int, low: float, high: float) -> None:
        """Let a cell lie between other ends."""
        self._highs.changeColBounds(place, low, high)
