"""Classes of local recoding: their levels and cost, and the assignment of rows that no node put into a class."""

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Ints, Sweep
from sfumato.microdata.methods.time_limit import GRACE
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats

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


@dataclass
class ClassAssigner:
    """Assigns rows that are in no class to the class where they add least loss.

    Attributes:
        owners: The class of each combination, or UNPLACED.
        levels: Levels of each class; costs: the loss of a row; sizes: its rows; first: one of its combinations.
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
        limit: How many rows may be suppressed: they stay UNPLACED.
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
