"""Heuristic of local suppression: fill groups from the cheapest pattern on, then improve rows and groups.

It returns a feasible assignment for tables of any size; the bound of the patterns limits its distance from the minimum.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError
from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.methods.local_suppression import kernels
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.models.equivalence_classes import (
    BoolArray,
    Counts,
    Floats,
)
from sfumato.values import Value

Codes = npt.NDArray[np.int32]
# Maximum number of entries (patterns times combinations): a fifth of a gigabyte.
MOST_PLACES = 50_000_000
UNFIT = -1


class SuppressibleCells(Value):
    """The values of a table: which may be suppressed, and at what cost.

    A published row consists of its values outside the pattern. A missing value of the original data stays missing, so a
    row with one fits only patterns that contain its column, where it costs nothing. Columns that must not be suppressed
    are in no pattern: a missing value there is a value like any other.

    Attributes:
        codes: The value codes, an array (combinations, columns), with a code for missing values.
        counts: The number of rows of each combination.
        missing: Values that are already missing in the data.
        prices: Cost of suppressing a value of each column; infinite if it must not be suppressed.
    """

    codes: Codes
    counts: Counts
    missing: BoolArray
    prices: Floats

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def costs(self, pattern: BoolArray) -> Floats:
        """Return the cost of a pattern for a row of each combination."""
        paid: Floats = (pattern[None, :] & ~self.missing).astype(float) @ np.where(
            np.isfinite(self.prices), self.prices, 0.0
        )
        return paid


class Patterns(Value):
    """Patterns in order of their cost.

    Attributes:
        masks: (patterns, columns) whether a column is suppressed.
        groups: The group of equal rows, or UNFIT; an array (patterns, combinations).
        costs: The cost of a row in each of these groups.
        sizes: (patterns, maximum number of groups) rows of each group.
        next_price: The lowest cost of a pattern that was left out, infinite if none was.
    """

    cells: SuppressibleCells
    masks: BoolArray
    groups: Codes
    costs: npt.NDArray[np.float64]
    sizes: tuple[Counts, ...]
    next_price: float

    def bound(self, k: int) -> float:
        """Return the minimum cost of all rows: for each the lowest cost of a group with k rows."""
        return self.least_cost([sizes >= k for sizes in self.sizes])

    def least_cost(self, enough: Iterable[BoolArray]) -> float:
        """Return the minimum cost of all rows if only some groups of each pattern may be used.

        A class is never larger than the full group; so a model that the group violates is violated by all its classes.
        """
        least = np.full(len(self.cells.counts), self.next_price)
        for groups, costs, keep in zip(self.groups, self.costs, enough, strict=True):
            least = np.where((groups != UNFIT) & keep[groups], np.minimum(least, costs), least)
        return float((least * self.cells.counts).sum())

    def sums(self, values: Counts) -> Iterator[Counts]:
        """Yield the sum of values over the combinations of each group, for each pattern."""
        for groups, sizes in zip(self.groups, self.sizes, strict=True):
            fits, sums = groups != UNFIT, np.zeros(len(sizes), np.int64)
            np.add.at(sums, groups[fits], values[fits])
            yield sums


def patterns_of(cells: SuppressibleCells) -> Patterns:
    """Return the cheapest patterns of a table within the memory limit, and the one with all columns."""
    touched = np.flatnonzero(np.isfinite(cells.prices))
    room = max(MOST_PLACES // max(len(cells.counts), 1), 2)
    masks, next_price = _masks(cells.prices, touched.tolist(), room)
    groups = np.empty((len(masks), len(cells.counts)), np.int32)
    costs = np.empty((len(masks), len(cells.counts)))
    sizes = []
    for place, mask in enumerate(masks):
        groups[place], rows = _groups(cells, mask)
        costs[place] = cells.costs(mask)
        sizes.append(rows)
    return Patterns(cells, masks, groups, costs, tuple(sizes), next_price)


def _masks(prices: Floats, touched: Sequence[int], room: int) -> tuple[BoolArray, float]:
    """Return sets of columns by cost within the memory limit, the last with all columns."""
    chosen: list[tuple[int, ...]] = []
    left_out = np.inf
    for size in range(len(touched) + 1):
        sets = list(combinations(touched, size))
        if len(chosen) + len(sets) >= room and size < len(touched):
            cheapest = np.sort(prices[list(touched)])
            left_out = float(cheapest[:size].sum())
            chosen.append(tuple(touched))
            break
        chosen += sets
    masks = np.zeros((len(chosen), len(prices)), bool)
    for place, columns in enumerate(chosen):
        masks[place, list(columns)] = True
    order = np.argsort((masks * np.where(np.isfinite(prices), prices, 0.0)).sum(axis=1), kind="stable")
    return masks[order], left_out


def _groups(cells: SuppressibleCells, mask: BoolArray) -> tuple[Codes, Counts]:
    """Return the group of each combination under a pattern, and the rows of each group."""
    fits = ~(cells.missing & ~mask & np.isfinite(cells.prices)).any(axis=1)
    groups = np.full(len(cells.counts), UNFIT, np.int32)
    shown = np.flatnonzero(~mask)
    codes = cells.codes[fits][:, shown]
    numbers, first = numbers_of(codes, (cells.codes.max(axis=0, initial=0) + 1)[shown].tolist())
    groups[fits] = numbers
    rows = np.bincount(numbers, weights=cells.counts[fits], minlength=max(len(first), 1)).astype(np.int64)
    return groups, rows


# Maximum number of rounds of improvement; later ones gain little.
MOST_ROUNDS = 30


class Assignment(Value):
    """The pattern with which the rows of each combination are published.

    Attributes:
        combinations: The combination of each entry.
        patterns: The pattern of each entry.
        rows: The number of rows of the combination that have the pattern.
        cost: The cost of all suppressed values.
        bound: The minimum cost of any assignment.
    """

    combinations: Counts
    patterns: Counts
    rows: Counts
    cost: float
    bound: float

    @property
    def proved(self) -> bool:
        """Whether the cost is proven to be minimal."""
        return self.cost <= self.bound + 1e-6


def assign(patterns: Patterns, k: int, deadline: Deadline) -> Assignment:
    """Return a good assignment of a table's rows.

    Raises:
        UnattainableError: Some rows have no group of k, even if everything allowed is suppressed.
    """
    work = _Work(patterns, k)
    work.fill()
    for _ in range(MOST_ROUNDS):
        if deadline.over or work.improve() <= 1e-9:
            break
    return work.assignment()


class _Work:
    """An assignment under construction."""

    def __init__(self, patterns: Patterns, k: int) -> None:
        self.patterns, self.k = patterns, k
        self.groups, self.costs, self.counts = patterns.groups, patterns.costs, patterns.cells.counts
        ends = np.cumsum([len(sizes) for sizes in patterns.sizes])
        self.starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        self.chosen = np.full(len(self.counts), kernels.NONE, np.int64)
        self.filled = np.zeros(int(ends[-1]), np.int64)
        self._orders: dict[int, Codes] = {}

    def fill(self) -> None:
        """Put every row into a group of k."""
        kernels.fill(self.groups, self.starts, self.counts, self.k, self.chosen, self.filled)
        while kernels.place(self.groups, self.starts, self.costs, self.counts, self.chosen, self.filled):
            self._make_company()

    def _make_company(self) -> None:
        """Put the first unassigned row, and all others that are then identical, into the largest group it fits."""
        one = int(np.flatnonzero(self.chosen == kernels.NONE)[0])
        fits = np.flatnonzero(self.groups[:, one] != kernels.NONE)
        enough = [place for place in fits.tolist() if self.patterns.sizes[place][self.groups[place, one]] >= self.k]
        if not enough:
            raise UnattainableError("local-suppression.cells_alike")
        for pattern in enough:
            if self._taken(pattern, one):
                return
        self._taken(enough[-1], one, always=True)

    def _taken(self, pattern: int, one: int, always: bool = False) -> bool:
        """Take rows of a group from other groups that can spare them, until it has k; return whether that succeeded.

        Args:
            always: Take all of them, and dissolve the groups that become too small.
        """
        members = np.flatnonzero(self.groups[pattern] == self.groups[pattern, one])
        taken, rows, left = [], 0, self.filled.copy()
        for member in members.tolist():
            own = self._group_of(member)
            if own is not None and not always:
                rest = left[own] - self.counts[member]
                if 0 < rest < self.k:
                    continue
                left[own] = rest
            taken.append(member)
            rows += int(self.counts[member])
            if rows >= self.k and not always and self.chosen[one] != kernels.NONE:
                break
        if rows < self.k or one not in taken:
            return False
        for member in taken:
            own = self._group_of(member)
            if own is not None:
                self.filled[own] -= self.counts[member]
            self.chosen[member] = pattern
        self.filled[self.starts[pattern] + self.groups[pattern, one]] += rows
        if always:
            self._free_small()
        return True

    def _group_of(self, member: int) -> int | None:
        pattern = int(self.chosen[member])
        return None if pattern == kernels.NONE else int(self.starts[pattern] + self.groups[pattern, member])

    def _free_small(self) -> None:
        """Dissolve groups with too few rows."""
        for member in np.flatnonzero(self.chosen != kernels.NONE).tolist():
            own = self._group_of(member)
            if own is not None and 0 < self.filled[own] < self.k:
                self.chosen[member] = kernels.NONE
        kept = np.flatnonzero(self.chosen != kernels.NONE)
        self.filled[:] = 0
        np.add.at(self.filled, self.starts[self.chosen[kept]] + self.groups[self.chosen[kept], kept], self.counts[kept])

    def improve(self) -> float:
        """Move rows to cheaper groups, open new ones, dissolve expensive ones; return the savings."""
        state = (self.groups, self.starts, self.costs, self.counts)
        saved = kernels.move(*state, self.k, self.chosen, self.filled)
        for pattern in range(len(self.groups)):
            order = self._order(pattern)
            saved += kernels.gather(pattern, order, *state, self.k, self.chosen, self.filled)
        own = self.starts[self.chosen] + self.groups[self.chosen, np.arange(len(self.counts))]
        order = np.argsort(own, kind="stable").astype(np.int32)
        return float(saved + kernels.dissolve(order, *state, self.chosen, self.filled))

    def _order(self, pattern: int) -> Codes:
        if pattern not in self._orders:
            self._orders[pattern] = np.argsort(self.groups[pattern], kind="stable").astype(np.int32)
        return self._orders[pattern]

    def assignment(self) -> Assignment:
        every = np.arange(len(self.counts))
        cost = float((self.costs[self.chosen, every] * self.counts).sum())
        return Assignment(every, self.chosen, self.counts, cost, self.patterns.bound(self.k))
