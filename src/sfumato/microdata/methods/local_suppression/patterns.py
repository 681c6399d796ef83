"""Patterns of local suppression: which columns of a row are suppressed, and which rows are then identical.

A published row consists of its values outside the pattern. A missing value of the original data stays missing, so a row
with one fits only patterns that contain its column, where it costs nothing. Columns that must not be suppressed are in
no pattern: a missing value there is a value like any other.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats

Codes = npt.NDArray[np.int32]
# Maximum number of entries (patterns times combinations): a fifth of a gigabyte.
MOST_PLACES = 50_000_000
UNFIT = -1


@dataclass(frozen=True, slots=True)
class SuppressibleCells:
    """The values of a table: which may be suppressed, and at what cost.

    Attributes:
        codes: (combinations, columns), with a code for missing ones; counts: rows of each; missing: values that
            are missing already.
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


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns in order of their cost.

    Attributes:
        masks: (patterns, columns) whether a column is suppressed.
        groups: (patterns, combinations) the group of equal rows, or UNFIT; costs: the cost of a row there.
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
    """Return sets of columns by cost, as many as fit into memory, the last with all columns."""
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
    """The group of each combination under a pattern, and the rows of each group."""
    fits = ~(cells.missing & ~mask & np.isfinite(cells.prices)).any(axis=1)
    groups = np.full(len(cells.counts), UNFIT, np.int32)
    shown = np.flatnonzero(~mask)
    codes = cells.codes[fits][:, shown]
    numbers, first = numbers_of(codes, (cells.codes.max(axis=0, initial=0) + 1)[shown].tolist())
    groups[fits] = numbers
    rows = np.bincount(numbers, weights=cells.counts[fits], minlength=max(len(first), 1)).astype(np.int64)
    return groups, rows
