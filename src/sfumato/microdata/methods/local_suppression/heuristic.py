"""Heuristic of local suppression: fill groups from the cheapest pattern on, then improve rows and groups.

It returns a feasible assignment for tables of any size; the bound of the patterns limits its distance from the minimum.
"""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.microdata.methods.local_suppression import kernels
from sfumato.microdata.methods.local_suppression.patterns import Codes, Patterns
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.models.equivalence_classes import Counts

# Maximum number of rounds of improvement; later ones gain little.
MOST_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Assignment:
    """The pattern with which the rows of each combination are published.

    Attributes:
        combinations, patterns, rows: Parallel arrays: a combination, a pattern, and how many of its rows have it.
        cost: Of all suppressed values; bound: the minimum cost of any assignment.
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
