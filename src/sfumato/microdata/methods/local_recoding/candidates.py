"""Candidate solutions of local recoding, made by sweeps over the nodes of the lattice."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.losses.additive_losses import Marginal, aggregated
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, problem_of
from sfumato.microdata.methods.local_recoding import candidate_class_kernels, candidate_kernels
from sfumato.microdata.methods.local_recoding.candidate_class_kernels import Rows, Stack
from sfumato.microdata.methods.local_recoding.candidate_kernels import CandidateBuffers
from sfumato.microdata.methods.local_recoding.kernels import LabelCosts
from sfumato.microdata.methods.local_recoding.sweep import (
    UNPLACED,
    Ints,
    Sweep,
    costs_of,
    firsts_of,
    levels_of,
    with_company,
)
from sfumato.microdata.methods.search_result import Flag, ProgressCallback
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.models.model import suppress_skewed_classes
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan
from sfumato.values import Value, replace

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


class Candidate(Value, dict=True):
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
        """Return the loss of each row of the table, ascending, over all columns."""
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


# Limits of the work, seconds each: combinations times nodes of an enumerated table, and combinations visited.
MOST_WORK = 400_000_000
# Limits of the candidate cells: ratio, higher for the smallest classes; share of all combinations (or narrow cells);
# and memory. Of each cell, the rows with the highest prices, enough for this many classes; others rarely fit better
# there than elsewhere.
FOR_SMALL = 0.4
WIDEST_SHARE = 9
DEAREST = 4
NARROW = 2000
FURTHER = (1.5, 1.6, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)
MOST_CELLS = 100_000
MOST_MEMBERS = 6_000_000
# Sums of the same costs in different order differ by less.
SAME = 1e-12
# No row is in a class; no factors are needed.
NOBODY, NOTHING = np.zeros(0, np.int64), np.zeros(0)


class CellWalk(Value, dict=True):
    """A table prepared for the enumeration, the columns of fewest values first.

    Give each row a price such that in no cell the k largest prices add up to more than k rows lose there. Whatever the
    classes of a recoding are, their rows lose no less than their prices: the sum of all prices is a proven lower bound.
    Prices of any kind become such prices when each is multiplied by the smallest ratio of the cells that contain its
    row; the first price of a row is its loss at the cheapest node at which its class is large enough. This is the dual
    of the linear program that covers all rows by cells (for set covering: Caprara, A., Fischetti, M., Toth, P. (1999).
    A heuristic method for the set covering problem, https://doi.org/10.1287/opre.47.5.730); cells whose ratio is near 1
    make good classes.
    """

    sweep: Sweep

    @property
    def feasible(self) -> bool:
        """Whether all cells can be enumerated in a few seconds, and cost no less at a higher level."""
        table = self.sweep.table
        return self.sweep.problem.size * len(table.counts) <= MOST_WORK and self._rises()

    def _rises(self) -> bool:
        costs = self.sweep.prices.costs
        parts = (costs[at, : ladder.height, : ladder.size] for at, ladder in enumerate(self.sweep.table.ladders))
        return all(bool((np.diff(part, axis=0) >= -SAME).all()) for part in parts)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort([ladder.size for ladder in self.sweep.table.ladders], kind="stable")

    @cached_property
    def _levels(self) -> tuple[Ints, Ints]:
        problem = self.sweep.problem
        return np.array(problem.lowest, np.int64)[self._order], np.array(problem.highest, np.int64)[self._order]

    @cached_property
    def _prices(self) -> LabelCosts:
        return self.sweep.prices_by(self._order)

    @cached_property
    def _codes(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        return np.ascontiguousarray(self.sweep.table.codes[:, self._order].T, np.int32)

    @cached_property
    def _floors(self) -> npt.NDArray[np.float64]:
        """The minimum loss of a row at each level of each column."""
        costs = self._prices.costs
        floors = np.zeros(costs.shape[:2])
        for at, column in enumerate(self._order):
            ladder = self.sweep.table.ladders[column]
            floors[at, : ladder.height] = costs[at, : ladder.height, : ladder.size].min(axis=1)
        return floors

    @cached_property
    def _stack(self) -> Stack:
        columns, rows = self._codes.shape
        labels, levels = max(ladder.size for ladder in self.sweep.table.ladders), self._prices.labels.shape[1]
        cells = columns, levels, labels
        return Stack(
            np.empty((columns, levels, rows), np.int32),
            np.empty(cells, np.int32),
            np.empty(cells, np.int32),
            np.empty(cells),
            np.empty(cells, np.int32),
            np.zeros((columns, levels), np.int64),
            np.zeros((columns, levels), np.int64),
            np.zeros(columns, np.int64),
            np.zeros(columns, np.int64),
            np.zeros(columns, np.int64),
            np.zeros(columns + 1, np.int64),
            np.zeros(columns + 1, np.int64),
            np.zeros(columns + 1),
            np.zeros(columns + 1),
            np.zeros(columns + 1),
            np.empty(rows, np.int32),
            np.full(labels, -1, np.int32),
            np.empty(labels, np.int32),
            np.empty(labels, np.int64),
            np.empty(labels, np.int64),
            self._floors,
            np.array([MOST_WORK], np.int64),
        )

    def _by_worth(self, worth: Floats) -> tuple[npt.NDArray[np.int32], Rows]:
        """Return the combinations by decreasing price, and their data in that order."""
        order = np.argsort(-worth, kind="stable").astype(np.int32)
        counts = self.sweep.table.counts[order].astype(np.int32)
        return order, Rows(np.ascontiguousarray(self._codes[:, order]), counts, worth[order])

    def cheapest(self, stop: Flag) -> Floats | None:
        """Return the loss of a row of each combination at the cheapest node with a large enough class, if in time."""
        return self.raised(np.ones(self._codes.shape[1]), self._alone(), stop)

    def dual(self, worth: Floats, stop: Flag) -> Floats | None:
        """Return feasible prices (a lower bound), proportional to the given ones in each cell; None at a timeout."""
        suppressible = self.sweep.problem.limit > 0
        return self.raised(worth, self._alone() if suppressible else np.full(len(worth), np.inf), stop)

    def raised(self, worth: Floats, most: Floats, stop: Flag) -> Floats | None:
        """Return prices times the smallest ratio of the cells of each combination, capped at `most`."""
        factors = np.divide(most, worth, out=np.zeros_like(worth), where=worth > 0)
        self._stack.work[0] = MOST_WORK
        order, rows = self._by_worth(worth)
        whole, ordered = np.arange(len(worth), dtype=np.int32), factors[order]
        done = candidate_class_kernels.lower_factors(
            rows, self._stack, self._prices, whole, *self._levels, self.sweep.problem.k, NOBODY, ordered, stop
        )
        factors[order] = ordered
        # A row in no large enough cell keeps its price.
        return worth * np.where(np.isinf(factors), 1.0, factors) if done else None

    def _alone(self) -> Floats:
        """Return the maximum loss of a row of each combination: when it is suppressed, or published at the top."""
        sweep, codes = self.sweep, self.sweep.table.codes
        columns = range(codes.shape[1])
        lost = sum(sweep.shares[column] * sweep.suppressed(column)[codes[:, column]] for column in columns)
        if sweep.problem.limit:
            return np.array(lost, np.float64)
        tops = [ladder.height - 1 for ladder in sweep.table.ladders]
        kept = sum(sweep.prices.costs[column, tops[column], codes[:, column]] for column in columns)
        return np.array(np.maximum(kept, lost), np.float64)

    def found(self, worth: Floats, stop: Flag, limit: float) -> CandidateBuffers:
        """Return the cells that lose least for the prices of their rows, with members by decreasing price.

        Args:
            limit: The highest ratio; a little higher for the smallest classes.
        """
        number = len(worth)
        order, rows = self._by_worth(worth)
        whole = np.arange(number, dtype=np.int32)
        found = CandidateBuffers(
            np.empty(MOST_MEMBERS, np.int32), np.zeros(MOST_CELLS + 1, np.int64), np.zeros(MOST_CELLS),
            np.zeros(MOST_CELLS),
        )  # fmt: skip
        k, widest = self.sweep.problem.k, max(number // WIDEST_SHARE, NARROW)
        self._stack.work[0] = MOST_WORK
        many = candidate_kernels.collect(
            rows, self._stack, self._prices, whole, *self._levels, k, NOBODY, NOTHING, limit + FOR_SMALL / k**2,
            widest, DEAREST * k, found, stop,
        )  # fmt: skip
        members, starts, costs, ratios = found
        return CandidateBuffers(order[members[: starts[many]]], starts[: many + 1], costs[:many], ratios[:many])

    def further(self, worth: Floats, owners: Ints, stop: Flag) -> Ints:
        """Return classes extended by new ones of unassigned rows, from the cells that lose least for their prices."""
        order, rows = self._by_worth(worth)
        ordered, number = owners[order], int(owners.max(initial=-1)) + 1
        self._stack.work[0] = MOST_WORK
        for limit in FURTHER:
            left = np.flatnonzero(ordered < 0).astype(np.int32)
            number = candidate_class_kernels.make_classes(
                rows, self._stack, self._prices, left, *self._levels, self.sweep.problem.k, ordered, NOTHING, limit,
                number, stop,
            )  # fmt: skip
        placed = np.empty_like(owners)
        placed[order] = ordered
        return placed
