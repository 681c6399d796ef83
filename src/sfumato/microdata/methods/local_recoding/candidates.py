"""Candidate solutions of local recoding, made by sweeps over the nodes of the lattice."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.coverage import aggregated
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem
from sfumato.microdata.methods.full_domain.make_problem import problem_of
from sfumato.microdata.methods.local_recoding.classes import costs_of, firsts_of, levels_of, with_company
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Ints, Sweep
from sfumato.microdata.methods.search_result import ProgressCallback
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.models.model import suppress_skewed_classes
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan

# Share of classes that are skipped at random against minimality attacks.
SPARED = 0.2


def rough_losses(plan: Plan, method: Local, table: FrequencyTable) -> Mapping[str, float] | None:
    """Return the loss of each column by one sweep over evenly spaced nodes; None if some rows find no class.

    The best single node is not searched, which takes the longest: this suffices for comparing columns.
    """
    best = swept(sweep_of(plan, method, problem_of(plan, method, table)), method)
    return None if best is None else best.per_column


def sweep_of(plan: Plan, method: Local, problem: LatticeProblem, progress: ProgressCallback | None = None) -> Sweep:
    """Return the sweep over the nodes of a problem."""
    # Classes consist of equal rows. If missing values match anything, or persons of a population count, that is
    # stricter than required; but a class that is valid only by rows it matches would lose them when these are
    # generalized again, and a class with mixed levels matches no combination by which the population could be counted.
    rows_alone = replace(problem.table, population=None)
    equal_rows = replace(problem, missing_matches=False, table=rows_alone, time_limit=problem.deadline.left)
    spare = SPARED if method.hide_minimality else 0.0
    return Sweep(equal_rows, method.nodes, plan.drawing_seed, spare, **({"tell": progress} if progress else {}))


@dataclass(frozen=True)
class Candidate:
    """A solution: the class of each combination; UNPLACED ones are suppressed."""

    sweep: Sweep
    owners: Ints

    @cached_property
    def number(self) -> int:
        return int(self.owners.max(initial=-1)) + 1

    @cached_property
    def levels(self) -> npt.NDArray[np.int32]:
        return levels_of(self.sweep, self.owners, self.number)

    @property
    def tells(self) -> bool:
        """Whether some label below the top is published."""
        tops = np.array([ladder.height - 1 for ladder in self.sweep.table.ladders])
        return bool((self.levels < tops).any())

    @cached_property
    def first(self) -> Ints:
        return firsts_of(self.owners, self.number)

    @cached_property
    def per_column(self) -> Mapping[str, float]:
        """The loss of each column, if the loss is defined by columns."""
        sweep, table = self.sweep, self.sweep.table
        if not isinstance(sweep.problem.loss, Marginal):
            return {}
        kept = self.owners >= 0
        losses = {}
        for column, name in enumerate(table.columns):
            ladder, codes = table.ladders[column], table.codes[:, column]
            of_class = np.stack([sweep.column_loss.kept(column, at)[ladder.codes[at]] for at in range(ladder.height)])
            lost = sweep.suppressed(column)[codes]
            lost[kept] = of_class[self.levels[self.owners[kept], column], codes[kept]]
            losses[name] = float((lost * table.counts).sum() / table.rows)
        return losses

    @cached_property
    def loss(self) -> float:
        loss = self.sweep.problem.loss
        if isinstance(loss, Marginal):
            return aggregated(list(self.per_column.values()), loss.weights, loss.aggregate)
        owners = np.where(self.owners < 0, self.number, self.owners)
        suppresses = bool((self.owners < 0).any())
        classes = self.sweep.classes(owners, self.number + suppresses)
        failing: BoolArray = np.arange(len(classes.sizes)) >= self.number
        grouped = Grouped(self.sweep.problem.highest, np.zeros((1, len(failing)), np.uint64), classes)
        return loss.value(loss.terms(grouped, failing, int(classes.sizes[failing].sum())).total)

    def row_costs(self) -> Floats:
        """The loss of each row of the table, ascending, over all columns."""
        kept = self.owners >= 0
        costs = costs_of(self.sweep, self.levels, self.first)[self.owners[kept]]
        return np.sort(np.repeat(costs, self.sweep.table.counts[kept]))


def swept(sweep: Sweep, method: Local) -> Candidate | None:
    """Return the best solution of all rounds; None if some rows find no class.

    If all nodes would take long, a few of them come first, so that there is a fair solution whatever the time.
    """
    start = _start(sweep, method.weight)
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    best: Candidate | None = None
    for most in sweep.passes():
        if best is None or not sweep.problem.deadline.over:
            best = better(best, placed(sweep, sweep.spread(nobody, np.array([np.inf]), start, most)))
    if method.rounds > 1 and best is not None and not sweep.problem.deadline.over:
        costs = best.row_costs()
        steps = (np.arange(1, method.rounds) * len(costs)) // method.rounds
        limits = np.append(np.unique(costs[steps]), np.inf)
        best = better(best, placed(sweep, sweep.spread(nobody, limits, start)))
    return best


def _start(sweep: Sweep, weight: float) -> int:
    """Return the first node of a round: the first one, or one part of the way to the best single node."""
    if not weight:
        return 0
    from sfumato.microdata.methods.full_domain import optimal

    node = optimal.search(sweep.problem).best.node
    nodes, averages = sweep.nodes
    prices, table = sweep.prices, sweep.table
    cost = sum(
        float((prices.costs[column, level, : len(rows)] * rows).sum()) / table.rows
        for column, level in enumerate(node)
        for rows in [table.marginal(column)]
    )
    return min(int(np.searchsorted(averages, weight * cost * (1 - 1e-12))), len(nodes) - 1)


def placed(sweep: Sweep, owners: Ints) -> Candidate | None:
    """Return a solution in which every row has a class or is suppressed within the limit."""
    placed = with_company(sweep, owners, sweep.problem.limit)
    if placed is not None:
        placed = _for_readers(sweep, placed)
    if placed is None or placed.max(initial=-1) < 0:
        return None
    answer = Candidate(sweep, placed)
    return answer if answer.tells or not sweep.problem.must_distinguish_rows else None


def _for_readers(sweep: Sweep, owners: Ints) -> Ints | None:
    """Return classes that satisfy their models for the remaining rows, too; None if that exceeds the limit."""
    number = int(owners.max(initial=-1)) + 1
    if number == 0:
        return owners
    kept = owners >= 0
    # Suppressed rows form a class of their own, the last one.
    classes = sweep.classes(np.where(kept, owners, number), number + 1)
    nobody = np.arange(number + 1) == number
    suppressed = suppress_skewed_classes(classes, sweep.table.whole, sweep.problem.models, nobody)
    if int(classes.sizes[suppressed].sum()) > sweep.problem.limit:
        return None
    numbers = np.where(suppressed, UNPLACED, np.cumsum(~suppressed) - 1)
    return numbers[np.where(kept, owners, number)]


def better(one: Candidate | None, other: Candidate | None) -> Candidate | None:
    """Return the solution that loses less; or the only one."""
    if one is None or other is None:
        return one or other
    return other if other.loss < one.loss else one
