"""Fast suppression for large tables: a good protected pattern, without a proof that none is cheaper."""

import numpy as np

from sfumato.tables.suppression.optimal import Suppression
from sfumato.tables.suppression.patterns import PatternSearch
from sfumato.tables.suppression.problem import Problem


def fast(problem: Problem) -> Suppression:
    """A protected pattern from cheapest flows, pruned; its bound is the trivial one.

    Raises:
        UnattainableError: A cell cannot be protected whatever is masked.
    """
    masked = problem.forced.copy()
    for part in problem.components():
        masked[np.searchsorted(problem.places, part.places)] = PatternSearch(part).complete(part.forced)
    return Suppression(masked, problem.cost_of(masked), 0.0, problem.places)
