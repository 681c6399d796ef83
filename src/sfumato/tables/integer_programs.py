"""Integer programs over the cells of a table, solved by HiGHS within a time limit."""

import math
from typing import Any, Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers
from sfumato.tables.linear_programs import linear_program

Outcome = Literal["proved", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class SolverResult:
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
