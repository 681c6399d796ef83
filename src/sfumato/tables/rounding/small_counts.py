"""Small count rounding: inner cells below the base become 0 or the base, and totals follow.

The inner cells that contribute to a published cell from 1 to base - 1 are rounded (Langsrud and Heldal, Privacy in
Statistical Databases 2018); if inner cells are published, these are all small ones. Which go up is chosen so that
published totals remain close. Larger inner cells are published unchanged and are not protected.
"""

from typing import Any

import numpy as np

from sfumato.errors import DataError, UnattainableError
from sfumato.tables.cells.cells import BoolArray, Bounds, LinearConstraints, Numbers
from sfumato.tables.cells.finest_cells import inner_sums
from sfumato.tables.deadline import Deadline
from sfumato.tables.integer_programs import SolverResult, solve
from sfumato.tables.rounding.controlled import Rounded


def round_small_counts(
    values: Numbers, base: float, relations: LinearConstraints, shown: BoolArray, deadline: Deadline
) -> Rounded:
    """Round small inner cells, and add up again.

    Args:
        shown: Which cells are published.

    Raises:
        DataError: A value is negative.
        UnattainableError: The time was over before anything was found.
    """
    if (values < 0).any():
        raise DataError("small count rounding needs counts, and a value is negative.", code="negative")
    sums = inner_sums(relations, len(values))
    rounded = values[sums.inner].copy()
    small_shown = shown & (values > 0) & (values < base)
    small = (np.asarray(sums.matrix[small_shown].sum(axis=0)).ravel() > 0) & (rounded > 0)
    answer = _chosen(rounded[small], base, sums.matrix[shown][:, small], deadline.left)
    if not len(answer.point) and small.any():
        raise UnattainableError(
            "the time was over before small counts were rounded.", "Allow more seconds.", "time-limit"
        )
    rounded[small] = base * np.round(answer.point[: int(small.sum())])
    published = np.asarray(sums.matrix @ rounded)
    change = float(np.abs(published - values)[shown].sum())
    return Rounded(published, 0, change, min(base * answer.bound, change))


def _chosen(counts: Numbers, base: float, sums: Any, seconds: float) -> SolverResult:
    """Which counts go up: the least sum of how far published cells move, in bases.

    Variables are a choice for each count, then how far each cell lies above and below its value.
    """
    from scipy.sparse import csr_matrix, hstack, identity

    touched = np.diff(sums.tocsr().indptr) > 0
    part = sums.tocsr()[touched]
    size, many = len(counts), part.shape[0]
    if not size:
        return SolverResult("proved", np.zeros(0), 0.0)
    matrix = csr_matrix(hstack([part, -identity(many), identity(many)]))
    target = part @ (counts / base)
    costs = np.concatenate([np.zeros(size), np.ones(2 * many)])
    bounds = Bounds(np.zeros(len(costs)), np.concatenate([np.ones(size), np.full(2 * many, np.inf)]))
    return solve(matrix, costs, bounds, Bounds(target, target), np.arange(len(costs)) < size, seconds)
