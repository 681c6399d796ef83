"""A proved lower bound of local recoding: what each row loses at the cheapest node at which it has company at all.

Whatever class a row is published in, all rows of the class have one label in each column, so they lie in one cell of a
node, and the cell has at least as many rows as a class must have. So a row loses no less than at the cheapest node
whose cell around it is large enough, or when it is suppressed, whichever is less. The bound adds that up over all rows;
it does not see that rows compete for company.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.packing import packing_of
from sfumato.microdata.losses.marginal import Marginal
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.local import bound_kernels
from sfumato.microdata.methods.local.bound_kernels import Room, Slots
from sfumato.microdata.methods.local.sweep import Ints, Sweep
from sfumato.microdata.methods.result import Result
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.models.classes import Floats
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan

Labels = npt.NDArray[np.uint64]
# Combinations times nodes that are worth it: seconds of work at the most.
MOST_WORK = 400_000_000
ROUNDING = 1e-12
# So long is it looked for.
MOST_SECONDS = 2.0
# So many nodes are looked at first, cheap and dear ones, so that most of the others need not be.
FIRST_NODES = 60


def bounded(plan: Plan, method: Local, table: FrequencyTable, result: Result) -> Result:
    """A result with what no local recoding can lose less than, and the share of its loss above that, where known."""
    bound = bound_of(plan, method, table, Deadline(min(MOST_SECONDS, method.time_limit or MOST_SECONDS)))
    if bound is None:
        return result
    bound = min(bound, result.loss)
    gap = 0.0 if result.loss - bound <= ROUNDING else 1 - bound / result.loss
    details = {**result.details, "bound": bound, "gap": gap}
    return replace(result, details=details, proved_optimal=result.proved_optimal or gap == 0.0)


def bound_of(plan: Plan, method: Local, table: FrequencyTable, deadline: Deadline) -> float | None:
    """What no local recoding of a table can lose less than; None where that is not known, or not in time.

    Losses that are no sums over columns, promises about persons and weights, and tables too large have no bound.
    """
    problem = problem_of(plan, method, table)
    loss = problem.loss
    if not isinstance(loss, Marginal) or loss.aggregate == "geometric" or table.persons or table.sample is not None:
        return None
    packing = packing_of([ladder.size for ladder in table.ladders])
    if packing.words > 1 or problem.size * len(table.counts) > MOST_WORK:
        return None
    sweep = Sweep(replace(problem, missing_matches=False), FIRST_NODES, 0)
    if not _rises(sweep):
        return None
    cheapest = _suppressed(sweep)
    if not _lower(sweep, cheapest, deadline):
        return None
    return float((cheapest * table.counts).sum() / table.rows)


def _rises(sweep: Sweep) -> bool:
    """Whether a value loses no less at a higher level, on which the bound rests."""
    parts = (
        sweep.prices.costs[column, : ladder.height, : ladder.size] for column, ladder in enumerate(sweep.table.ladders)
    )
    return all(bool((np.diff(costs, axis=0) >= -ROUNDING).all()) for costs in parts)


def _suppressed(sweep: Sweep) -> Floats:
    """What a row of each combination loses when it is suppressed, or published at the top: the most that it can."""
    codes, prices = sweep.table.codes, sweep.prices
    top = [ladder.height - 1 for ladder in sweep.table.ladders]
    kept = sum(prices.costs[column, top[column], codes[:, column]] for column in range(codes.shape[1]))
    lost = sum(sweep.shares[column] * sweep.suppressed(column)[codes[:, column]] for column in range(codes.shape[1]))
    return np.array(np.maximum(kept, lost) if not sweep.problem.limit else lost, np.float64)


def _lower(sweep: Sweep, cheapest: Floats, deadline: Deadline) -> bool:
    """Lower the costs to those at the cheapest nodes; whether all nodes were gone through."""
    table, problem, prices = sweep.table, sweep.problem, sweep.prices
    rows, width = table.codes.shape
    packing = packing_of([ladder.size for ladder in table.ladders])
    labels = prices.labels.astype(np.uint64) << packing.shift[:, None, None]
    capacity = 4 << rows.bit_length()
    slots = Slots(
        np.zeros(capacity, np.int64), np.zeros(capacity, np.int64), np.zeros(capacity, np.uint64), np.zeros(1, np.int64)
    )
    shape = (width + 1, rows)
    room = Room(
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.int64),
        np.zeros(shape),
        np.zeros(width + 1, np.int64),
        np.zeros(width, np.int64),
    )
    room.open[0], room.many[0] = np.arange(rows), rows
    for node in sweep.nodes[0].astype(np.int64):
        with_levels = _widened(sweep, node, labels, cheapest, room)
        if with_levels:
            bound_kernels.look_at(
                table.counts,
                room.keys[width],
                room.open[width],
                room.costs[width],
                with_levels,
                problem.k,
                slots,
                cheapest,
            )
    low, high = np.array(problem.lowest, np.int64), np.array(problem.highest, np.int64)
    with deadline.flag() as stop:
        return bool(
            bound_kernels.walk(
                table.codes, table.counts, labels, prices.costs, low, high, problem.k, slots, room, cheapest, stop
            )
        )


def _widened(sweep: Sweep, node: Ints, labels: Labels, cheapest: Floats, room: Room) -> int:
    """How many combinations could be cheaper at a node; their keys and costs are in the room."""
    many = 0
    for column, level in enumerate(node.tolist()):
        many = bound_kernels.widen(sweep.table.codes, column, level, labels, sweep.prices.costs, cheapest, room)
    return int(many)
