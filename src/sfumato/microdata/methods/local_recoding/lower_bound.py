"""A proven lower bound of the loss of local recoding, from prices of rows (see cells.py).

Whatever class a row is published in, all rows of the class have one label in each column, so they lie in one lattice
class ("cell") of a node, and this cell has at least as many rows as a class needs. A row therefore loses at least the
minimum of the loss of suppression and the loss at the cheapest node whose cell around it is large enough. Rows with few
neighbors also make these neighbors lose more. Prices account for that, because the prices of each cell are limited
together.
"""

from dataclasses import replace

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.methods.full_domain.make_problem import problem_of
from sfumato.microdata.methods.local_recoding.candidate_classes import SAME, CellWalk
from sfumato.microdata.methods.local_recoding.sweep import Sweep
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan

# Time limit of the bound.
MOST_SECONDS = 2.0
# Number of price improvements: each takes about as long, and adds less.
TIMES = 2


def bounded(plan: Plan, method: Local, table: FrequencyTable, result: Result) -> Result:
    """Return a result with the lower bound of local recoding, and the relative gap of its loss, if known."""
    bound = bound_of(plan, method, table, Deadline(min(MOST_SECONDS, method.time_limit or MOST_SECONDS)))
    if bound is None:
        return result
    bound = min(bound, result.loss)
    gap = 0.0 if result.loss - bound <= SAME else 1 - bound / result.loss
    details = {**result.details, "bound": bound, "gap": gap}
    return replace(result, details=details, proved_optimal=result.proved_optimal or gap == 0.0)


def bound_of(plan: Plan, method: Local, table: FrequencyTable, deadline: Deadline) -> float | None:
    """Return a lower bound of the loss of every local recoding; None if unknown, or not found in time.

    Losses that are no sums over columns, models of persons and weights, and very large tables have no bound.
    """
    problem = problem_of(plan, method, table)
    loss = problem.loss
    if not isinstance(loss, Marginal) or loss.aggregate == "geometric" or table.persons or table.sample is not None:
        return None
    walk = CellWalk(Sweep(replace(problem, missing_matches=False), method.nodes, 0))
    prices = _prices(walk, deadline) if walk.feasible else None
    return None if prices is None else float((prices * table.counts).sum() / table.rows) * (1 - SAME)


def _prices(walk: CellWalk, deadline: Deadline) -> Floats | None:
    """Return the highest prices found in time; None if not even the first ones are."""
    with deadline.flag() as stop:
        prices = walk.cheapest(stop)
        for _ in range(TIMES):
            raised = None if prices is None else walk.dual(prices, stop)
            if raised is None:
                break
            prices = raised
    return prices
