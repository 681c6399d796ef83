"""The main loop of local recoding: try the nodes of the generalization lattice in order of cost, and form classes.

At each node, the rows that are still unassigned form candidate classes (cells), and those that satisfy the models are
kept. Every row is therefore published at the cheapest node at which its cell satisfies the models. With several rounds,
each round accepts only cells up to a certain cost, so that a cheap cell of an expensive node precedes an expensive cell
of a cheap node.
"""

from collections.abc import Callable, Collection
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import regroup
from sfumato.microdata.losses.additive_losses import ColumnLoss, LevelLoss, LossMetric, Marginal
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.methods.local_recoding import kernels as local_kernels
from sfumato.microdata.methods.local_recoding.kernels import LabelCosts, NodeBuffers
from sfumato.microdata.methods.search_result import GRACE, Flag
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.persons import looked_at
from sfumato.values import State, Value

Ints = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]
UNPLACED = -1
# If trying all nodes takes long, passes over this many nodes come first, unless all nodes are fewer than PASS_GROWTH
# times as many.
FEW_NODES = (32, 256, 2_048)
PASS_GROWTH = 4
# Work of evaluating a model other than k-anonymity, relative to counting a combination.
MODEL_WORK = 20
# Searches with at most this much work (combinations times nodes) have only one pass.
QUICK_WORK = 100_000_000
# Number of digits in which costs are compared.
DIGITS = 12
# Limit of combinations times nodes of a round: beyond it, fewer nodes are tried.
MOST_WORK = 2_000_000_000
FEWEST_NODES = 200
# Larger lattices are not enumerated: this many nodes are taken from them.
MOST_LISTED = 1_000_000
SAMPLE = 100_000


class Sweep(Value, dict=True):
    """A table, the models, and the cost of each label.

    Attributes:
        most_nodes: Maximum number of nodes tried in a round.
        spare: The share of classes that are skipped at random, against minimality attacks;
            seed: for this.
    """

    problem: LatticeProblem
    most_nodes: int
    seed: int
    spare: float = 0.0
    tell: Callable[[int, int], None] = lambda _done, _all: None

    @property
    def table(self) -> FrequencyTable:
        return self.problem.table

    @cached_property
    def _others(self) -> tuple[PrivacyModel, ...]:
        """The models beyond class sizes, the fastest first: those of no column."""
        others = (model for model in self.problem.models if model.judges != "sizes")
        return tuple(sorted(others, key=lambda model: model.column is not None))

    @cached_property
    def column_loss(self) -> ColumnLoss:
        """The loss of labels; losses that are not defined by labels are replaced by the loss metric."""
        loss = self.problem.loss
        return loss.losses if isinstance(loss, Marginal) else LossMetric(self.table.ladders)

    def suppressed(self, column: int) -> Floats:
        """Return the loss of a suppressed row for each value of a column; as at the root if a loss has none."""
        loss, top = self.column_loss, self.table.ladders[column].height - 1
        codes = self.table.ladders[column].codes
        if isinstance(loss, LevelLoss) and not loss.charges_suppression:
            return loss.kept(column, top)[codes[top]]
        return loss.suppressed(column, 0)[codes[0]].astype(np.float64)

    @cached_property
    def shares(self) -> Floats:
        """The weight of each column in the loss."""
        loss = self.problem.loss
        return loss.shares if isinstance(loss, Marginal) else np.full(len(self.table.columns), 1.0)

    def prices_by(self, columns: Ints) -> LabelCosts:
        """Return the prices with the columns in another order."""
        labels, costs, widths = self.prices
        return LabelCosts(labels[columns], costs[columns], widths[columns])

    @cached_property
    def prices(self) -> LabelCosts:
        ladders = self.table.ladders
        shape = (len(ladders), max(ladder.height for ladder in ladders), max(ladder.size for ladder in ladders))
        labels, costs = np.zeros(shape, np.int32), np.zeros(shape)
        widths = np.ones(shape[:2], np.int64)
        for column, ladder in enumerate(ladders):
            for level, codes in enumerate(ladder.codes):
                labels[column, level, : ladder.size] = codes
                costs[column, level, : ladder.size] = self.shares[column] * self.column_loss.kept(column, level)[codes]
                widths[column, level] = len(ladder.labels[level])
        return LabelCosts(labels, costs, widths)

    @cached_property
    def nodes(self) -> tuple[npt.NDArray[np.int32], Floats]:
        """The nodes in the order in which they are tried, by their mean cost, and this cost.

        Of nodes with the same cost, the one with fewer cells comes first, because its classes are larger.
        """
        nodes = self._listed()
        means = self._per_level(lambda costs, rows: float((costs * rows).sum() / max(rows.sum(), 1)))
        average = sum(means[column, nodes[:, column]] for column in range(nodes.shape[1]))
        cells = sum(np.log(self.prices.widths)[column, nodes[:, column]] for column in range(nodes.shape[1]))
        order = np.lexsort((cells, np.round(average, DIGITS)))
        most = max(min(self.most_nodes, MOST_WORK // max(len(self.table.counts), 1)), FEWEST_NODES)
        if len(order) > most:
            order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
        return np.ascontiguousarray(nodes[order]), average[order]

    def _listed(self) -> npt.NDArray[np.int32]:
        """Return all nodes, the last column changing first; evenly spaced ones of a lattice that is too large."""
        lowest, highest, size = self.problem.lowest, self.problem.highest, self.problem.size
        places = np.arange(size) if size <= MOST_LISTED else np.linspace(0, size - 1, SAMPLE).astype(np.int64)
        nodes = np.empty((len(places), len(lowest)), np.int32)
        for column in reversed(range(len(lowest))):
            places, nodes[:, column] = np.divmod(places, highest[column] - lowest[column] + 1)
            nodes[:, column] += lowest[column]
        return nodes

    def _per_level(self, of: Callable[[Floats, Counts], float]) -> Floats:
        """Return a number for each column and level, from the cost of its values and their numbers of rows."""
        prices = self.prices
        figures = np.zeros(prices.widths.shape)
        for column, ladder in enumerate(self.table.ladders):
            rows = self.table.marginal(column)
            for level in range(ladder.height):
                figures[column, level] = of(prices.costs[column, level, : ladder.size], rows)
        return figures

    def floors(self) -> Floats:
        """Return the minimum cost of a cell of each node."""
        nodes, _ = self.nodes
        least = self._per_level(lambda costs, rows: float(costs[rows > 0].min(initial=np.inf)))
        sums: Floats = sum((least[column, nodes[:, column]] for column in range(nodes.shape[1])), np.zeros(len(nodes)))
        return sums

    def violating(self, owners: Ints, number: int) -> BoolArray:
        """Return which classes violate some model; each model is evaluated on classes that satisfy the previous ones.

        Args:
            owners: The class of each combination, or UNPLACED.
        """
        failing: BoolArray = self.classes(owners, number, ()).sizes < self.problem.k
        for model in self._others:
            asked = np.flatnonzero(~failing)
            if not len(asked):
                break
            numbers = np.full(number + 1, UNPLACED, np.int64)
            numbers[asked] = np.arange(len(asked))
            classes = self.classes(numbers[owners], len(asked), looked_at(model))
            failing[asked] = model.violating(classes, self.table.whole)
        return failing

    def classes(self, owners: Ints, number: int, names: Collection[str] | None = None) -> EquivalenceClasses:
        """Return the classes of combinations, without UNPLACED ones.

        Args:
            names: The sensitive columns that classes hold; all if not given.
        """
        placed = owners >= 0
        sizes = np.bincount(owners[placed], weights=self.table.counts[placed], minlength=number).astype(np.int64)
        contents = {name: rows for name, rows in self.table.sensitive.items() if names is None or name in names}
        owner = np.where(placed, owners, number)
        return EquivalenceClasses(sizes, {name: regroup(rows, owner, number) for name, rows in contents.items()})

    def passes(self) -> list[int]:
        """Return the numbers of nodes tried, first few and at last all; more passes if they take long."""
        every = len(self.nodes[0])
        work = every * len(self.table.counts) * (1 + MODEL_WORK * len(self._others))
        return [*(few for few in FEW_NODES if work > QUICK_WORK and PASS_GROWTH * few <= every), every]

    def spread(self, owners: Ints, limits: Floats, start: int = 0, most: int | None = None) -> Ints:
        """Assign unassigned rows to a class at the first node where one is large enough.

        Args:
            owners: The class of each combination, or UNPLACED.
            limits: For each round, the maximum cost of a row of a new class.
            start: The node with which every round begins.
            most: Number of evenly spaced nodes that are tried; all if not given.
        """
        owners = owners.copy()
        every = len(self.nodes[0])
        places = np.linspace(start, every - 1, min(most or every, every - start)).astype(np.int64)
        with self.problem.deadline.flag() as stop:
            self._spread(owners, limits, places, stop)
        return owners

    def _spread(self, owners: Ints, limits: Floats, places: Ints, stop: Flag) -> None:
        nodes = np.ascontiguousarray(self.nodes[0][places])
        floors = self.floors()[places] if len(limits) > 1 else np.zeros(len(nodes))
        for done, limit in enumerate(limits.tolist()):
            self._round(owners, nodes, floors, limit, stop)
            self.tell(done + 1, len(limits))

    def _round(self, owners: Ints, nodes: Nodes, floors: Floats, limit: float, stop: Flag) -> None:
        at = 0
        left = np.flatnonzero(owners < 0)
        cells = _node_buffers(len(left))
        number = int(owners.max(initial=-1)) + 1
        k = self.problem.k
        random, late = (np.random.default_rng(self.seed) if self.spare else None), False
        while len(left):
            at, count = local_kernels.next_node(
                self.table.codes, self.table.counts, left, nodes, floors, at, k, limit, self.prices, cells, stop
            )
            if at == len(nodes):
                if late or not stop[0]:
                    return
                # No time is left for the others: the highest node, the last one, takes all rows it can.
                at, limit, late = len(nodes) - 1, np.inf, True
                continue
            owner, good = cells.owner[: len(left)], cells.good[:count].copy()
            if self._others:
                good = self._acceptable(left, owner, good)
            if random is not None and at + 1 < len(nodes):
                good &= random.random(count) >= self.spare
            numbers = number + np.cumsum(good) - 1
            kept = good[owner]
            owners[left[kept]] = numbers[owner[kept]]
            number += int(good.sum())
            left = left[~kept]
            at += 1

    def _acceptable(self, left: Ints, owner: Ints, good: BoolArray) -> BoolArray:
        """Return which of the good cells satisfy every model."""
        numbers = np.where(good, np.cumsum(good) - 1, UNPLACED)
        owners = np.full(len(self.table.counts), UNPLACED, np.int64)
        owners[left] = numbers[owner]
        kept = good.copy()
        kept[good] = ~self.violating(owners, int(good.sum()))
        return kept


def _node_buffers(size: int) -> NodeBuffers:
    slots = 1 << max((2 * size).bit_length(), 4)
    return NodeBuffers(
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(1, np.int64),
        np.zeros(size, np.uint64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, bool),
    )


# Number of the cheapest classes that are tried for rows without a class.
TRIES = 64


def levels_of(sweep: Sweep, owners: Ints, number: int) -> npt.NDArray[np.int32]:
    """Return for each class and column the lowest allowed level at which all its rows have one label."""
    table = sweep.table
    order = np.argsort(owners, kind="stable")
    order = order[np.searchsorted(owners[order], 0) :]
    starts = np.searchsorted(owners[order], np.arange(number))
    levels = np.empty((number, len(table.columns)), np.int32)
    for column, ladder in enumerate(table.ladders):
        level = np.full(number, ladder.height - 1, np.int32)
        for at in range(ladder.height - 2, sweep.problem.lowest[column] - 1, -1):
            labels = ladder.codes[at][table.codes[order, column]]
            one = np.minimum.reduceat(labels, starts) == np.maximum.reduceat(labels, starts)
            level[one] = at
        levels[:, column] = level
    return levels


def firsts_of(owners: Ints, number: int) -> Ints:
    """Return one combination of each class."""
    first = np.zeros(number, np.int64)
    placed = np.flatnonzero(owners >= 0)
    first[owners[placed[::-1]]] = placed[::-1]
    return first


class ClassAssigner(State):
    """Assigns rows that are in no class to the class where they add least loss.

    Attributes:
        owners: The class of each combination, or UNPLACED.
        levels: The levels of each class.
        costs: The loss of a row of each class.
        sizes: The number of rows of each class.
        first: One combination of each class.
    """

    sweep: Sweep
    owners: Ints
    levels: npt.NDArray[np.int32]
    costs: Floats
    sizes: Counts
    first: Ints

    def join(self, row: int, may_suppress: bool) -> bool:
        """Assign a combination to the best class, or to none if suppression costs less; return whether it worked."""
        rows = int(self.sweep.table.counts[row])
        levels, costs, allowed = self._joined(row)
        added = (self.sizes + rows) * costs - self.sizes * self.costs
        added[~allowed] = np.inf
        order = np.argsort(added, kind="stable")[:TRIES]
        suppressing = rows * _suppressed_cost(self.sweep, row)
        for chosen in order.tolist():
            if not np.isfinite(added[chosen]) or (may_suppress and suppressing <= added[chosen]):
                return False
            if self._holds(row, chosen):
                self.owners[row] = chosen
                self.levels[chosen], self.costs[chosen] = levels[chosen], costs[chosen]
                self.sizes[chosen] += rows
                return True
        return False

    def _joined(self, row: int) -> tuple[npt.NDArray[np.int32], Floats, BoolArray]:
        """Return levels and costs of every class if a combination joined it, and whether such levels are allowed."""
        table, prices = self.sweep.table, self.sweep.prices
        levels, costs = self.levels.copy(), np.zeros(len(self.sizes))
        for column, ladder in enumerate(table.ladders):
            code, others = table.codes[row, column], table.codes[self.first, column]
            apart = sum((labels[others] != labels[code]).astype(np.int32) for labels in ladder.codes[:-1])
            levels[:, column] = np.maximum(levels[:, column], apart)
            costs += prices.costs[column, levels[:, column], code]
        allowed: BoolArray = np.all(levels <= np.array(self.sweep.problem.highest), axis=1)
        return levels, costs, allowed

    def _holds(self, row: int, chosen: int) -> bool:
        """Return whether a class with one more combination satisfies every model."""
        owners = np.where(self.owners == chosen, 0, UNPLACED)
        owners[row] = 0
        return not self.sweep.violating(owners, 1).any()


def _suppressed_cost(sweep: Sweep, row: int) -> float:
    """Return the cost of suppressing a row of a combination."""
    codes = enumerate(sweep.table.codes[row].tolist())
    return sum(float(sweep.shares[column] * sweep.suppressed(column)[code]) for column, code in codes)


def with_company(sweep: Sweep, owners: Ints, limit: int) -> Ints | None:
    """Assign every row to a class, except at most `limit` rows; None if that is impossible.

    Args:
        limit: Maximum number of suppressed rows; these remain UNPLACED.
    """
    left = np.flatnonzero(owners < 0)
    if not len(left):
        return owners
    number = int(owners.max(initial=-1)) + 1
    if not number:
        return None
    budget = limit
    company, deadline = made(sweep, owners, number), sweep.problem.deadline.later(GRACE / 2)
    for row in left.tolist():
        if deadline.over:
            return None
        rows = int(sweep.table.counts[row])
        if not company.join(row, rows <= budget):
            budget -= rows
            if budget < 0:
                return None
    return company.owners


def made(sweep: Sweep, owners: Ints, number: int) -> ClassAssigner:
    """Return the assigner for the current classes."""
    levels = levels_of(sweep, owners, number)
    first = firsts_of(owners, number)
    classes: EquivalenceClasses = sweep.classes(owners, number)
    return ClassAssigner(sweep, owners.copy(), levels, costs_of(sweep, levels, first), classes.sizes, first)


def costs_of(sweep: Sweep, levels: npt.NDArray[np.int32], first: Ints) -> Floats:
    """Return the loss of a row of each class, over all columns."""
    codes = sweep.table.codes[first]
    columns = range(levels.shape[1])
    return sum(
        (sweep.prices.costs[column, levels[:, column], codes[:, column]] for column in columns), np.zeros(len(first))
    )
