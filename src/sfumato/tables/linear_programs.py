"""Linear and integer programs over the cells of a table, solved by HiGHS."""

import math
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from sfumato.errors import InternalError, missing_extra
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.values import Value, replace

PRIMAL_SIMPLEX = 4
# Simplex iterations (at least the number of rows) after which a program is restarted with interior points.
STEPS, NO_LIMIT = 2_000, 2**31 - 1


def solver(**options: Any) -> Any:
    """Return a silent HiGHS instance."""
    try:
        import highspy
    except ImportError:
        raise missing_extra("highspy", "tables") from None
    highs = highspy.Highs()
    # One thread each: idle workers waste time, and all instances of a process must have the same setting.
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs


def linear_program(matrix: Any, costs: Numbers, bounds: Bounds, sides: Bounds | None = None) -> Any:
    """Return a HiGHS instance for: minimize costs·y, matrix·y within the sides (0 by default), y within its bounds."""
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
    """Limit the time of the next run of a program.

    HiGHS measures the time of all runs of a linear program together, but that of an integer program per run.
    """
    highs.setOptionValue("time_limit", max(seconds, 0.05) + (0.0 if whole else highs.getRunTime()))


def solved(highs: Any, seconds: float = math.inf, whole: bool = False) -> bool:
    """Run a linear program from its last solution; return whether it was solved in time.

    In tables of many dimensions the simplex method may stall for minutes. After as many iterations as there are rows,
    interior points usually find the solution within a second.
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
    """Return the number of the connected component of each cell; cells that share constraints are connected."""
    from scipy.sparse import bmat
    from scipy.sparse.csgraph import connected_components

    # Cells and constraints form one graph; a graph of cells alone would have an edge for every pair in a constraint.
    graph = bmat([[None, abs(matrix)], [abs(matrix).T, None]])
    _, labels = connected_components(graph, directed=False)
    _, numbers = np.unique(labels[matrix.shape[0] :], return_inverse=True)
    return np.asarray(numbers, np.int64)


class Extreme(Value):
    """An extreme value of a cell, with the multipliers of constraints and bounds that prove it.

    `point` has the values of all cells at the optimum; empty if the program is unbounded.
    """

    value: float
    relations: Numbers
    bounds: Numbers
    point: Numbers


class LinearProgram:
    """The feasible values of cells from an attacker's view, as a linear or integer program."""

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
        """Return whether a feasible solution exists."""
        from highspy import HighsModelStatus

        self._highs.run()
        return bool(self._highs.getModelStatus() == HighsModelStatus.kOptimal)

    def least(self, costs: Numbers, seconds: float) -> tuple[Numbers | None, bool]:
        """Minimize costs · y; return the solution, None without one, and whether it is optimal."""
        from highspy import HighsModelStatus, SolutionStatus

        highs = self._highs
        highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
        limit(highs, seconds, self._integer)
        # Only costs change between runs, so a warm start is feasible: nine times as fast.
        highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        highs.run()
        solved = highs.getModelStatus() == HighsModelStatus.kOptimal
        possible = highs.getInfo().primal_solution_status == SolutionStatus.kSolutionStatusFeasible
        return np.array(highs.getSolution().col_value) if solved or possible else None, solved

    def extreme(self, place: int, direction: float) -> Extreme:
        """Return the minimum (direction 1) or maximum (-1) of a cell with its proof, without time limit."""
        extreme = self.extreme_within(place, direction, math.inf)
        assert extreme is not None
        return extreme

    def extreme_within(self, place: int, direction: float, seconds: float) -> Extreme | None:
        """Return the minimum (direction 1) or maximum (-1) of a cell with its proof; None if the time is over.

        Raises:
            InternalError: The program was not solved.
        """
        from highspy import HighsModelStatus as Status

        highs = self._highs
        open_ended = (Status.kUnbounded, Status.kUnboundedOrInfeasible)
        highs.changeColCost(place, direction)
        solved(highs, seconds, self._integer)
        if highs.getModelStatus() not in (Status.kOptimal, Status.kTimeLimit, *open_ended):
            # A warm start may fail where a cold start succeeds.
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
            raise InternalError("attack")
        solution = highs.getSolution()
        point = np.array(solution.col_value)
        if self._integer:
            return replace(unbounded, value=float(point[place]), point=point)
        return Extreme(float(point[place]), np.array(solution.row_dual), np.array(solution.col_dual), point)

    def bound(self, place: int, low: float, high: float) -> None:
        """Set the bounds of a cell."""
        self._highs.changeColBounds(place, low, high)


Outcome = Literal["proved", "feasible", "infeasible", "unknown"]


class SolverResult(Value):
    """The result of a program.

    Attributes:
        outcome: `proved` optimal, `feasible` at the time limit, proved `infeasible`, or `unknown`.
        point: The values of the variables; empty if there are none.
        bound: A lower bound of the optimum.
    """

    outcome: Outcome
    point: Numbers
    bound: float = -math.inf


def solve(matrix: Any, costs: Numbers, bounds: Bounds, sides: Bounds, whole: BoolArray, seconds: float) -> SolverResult:
    """Minimize costs · y, with matrix · y within the sides, y within its bounds, and some variables integer.

    >>> from scipy.sparse import csr_matrix
    >>> one = Bounds(np.array([1.5]), np.array([np.inf]))
    >>> solve(csr_matrix([[1.0]]), np.ones(1), Bounds(np.zeros(1), np.full(1, 9.0)), one, np.ones(1, bool), 5).point
    array([2.])
    """
    import highspy

    highs = linear_program(matrix, costs, bounds, sides)
    places = np.flatnonzero(whole).astype(np.int32)
    highs.changeColsIntegrality(len(places), places, np.full(len(places), highspy.HighsVarType.kInteger))
    options = {"presolve": "choose", "mip_rel_gap": 0.0, "mip_abs_gap": 1e-7, "time_limit": max(seconds, 0.05)}
    for option, value in options.items():
        highs.setOptionValue(option, value)
    highs.run()
    return _answer(highs, highspy.HighsModelStatus)


def _answer(highs: Any, status: Any) -> SolverResult:
    ended, info = highs.getModelStatus(), highs.getInfo()
    nothing = np.zeros(0)
    if ended in (status.kInfeasible, status.kUnboundedOrInfeasible):
        return SolverResult("infeasible", nothing, math.inf)
    point = np.array(highs.getSolution().col_value)
    if ended == status.kOptimal:
        return SolverResult("proved", point, float(info.objective_function_value))
    there = math.isfinite(info.objective_function_value) and info.primal_solution_status == 2
    return SolverResult("feasible" if there else "unknown", point if there else nothing, float(info.mip_dual_bound))


def check_installed() -> None:
    """Refuse to begin where the solver or the matrices that every attack needs are missing."""
    for package in ("scipy", "highspy"):
        if find_spec(package) is None:
            raise missing_extra(package, "tables")
