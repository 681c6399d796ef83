"""Runs of neighboring values that Mondrian does not cut, because a range would end at the value of a single person.

A cut lies between two values of the data, which often belong to single persons. Ranges therefore end at the roundest
numbers in between (the first of a year, a round number), and the first and last range at round ones outside the data.
If neighbors are so close that an end would be the value of a single person, they form one run. Only if a run would be
long, because every round number is some value, is it cut nevertheless: such an end reveals no single person.

Values that the hierarchy codes (`bottom: 20`, `top: 80`) form one run at each end, published as `<20` and `>80`; a
range that reaches into such a run is open there (`<36`), because its end would be an extreme value or a typing error.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.recoding.mapping import STAR
from sfumato.microdata.recoding.range_grid import NONE_LONGER, Longer, RangeGrid, range_text

Ints = npt.NDArray[np.int64]
# Maximum number of neighbors, each of a single person, that stay together; random numbers hardly ever have more.
_LONG = 30
# A value with values on all grid points within this distance counts as one of many.
_AROUND = 5
# Maximum distance of the outermost ends from the values, as a share of their range.
_BEYOND = 10


@dataclass(frozen=True)
class ValueRuns:
    """The runs of values of an axis.

    Attributes:
        owners: The cell of each value, in their order.
        starts: The first and last grid point at which each cell may begin, and one after the last, (cells + 1, 2).
        below, above: Labels of the first and the last cell, if they hold coded values.
    """

    grid: RangeGrid
    owners: Ints
    starts: Ints
    below: str | None = None
    above: str | None = None

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    def is_coded(self, cell: int) -> bool:
        """Return whether a cell holds the values that the hierarchy codes at an end."""
        return (cell == 0 and self.below is not None) or (cell == self.count - 1 and self.above is not None)

    def text(self, low: int, high: int) -> str:
        """Return the range from one cell to another."""
        if not (self.is_coded(low) or self.is_coded(high)):
            return range_text(self.grid.text(self._start(low)), self.grid.text(self._start(high + 1) - 1))
        if low == high:
            return (self.below if low == 0 and self.below is not None else self.above) or STAR
        if (low, high) == (0, self.count - 1):
            return STAR
        return f"<{self.grid.text(self._start(high + 1))}" if low == 0 else f">{self.grid.text(self._start(low) - 1)}"

    def _start(self, cell: int) -> int:
        return self.grid.roundest(*self.starts[cell].tolist())


def cells_of(grid: RangeGrid, numbers: Floats, persons: Counts, longer: Longer = NONE_LONGER) -> ValueRuns:
    """Return the cells of numbers in ascending order.

    Args:
        persons: How many persons, or rows, have each of them.
        longer: The exact numbers that floating-point numbers do not represent, by place.

    >>> from sfumato.microdata.recoding.range_grid import NumberGrid
    >>> cells = cells_of(NumberGrid(0), np.array([1812.0, 1813.0, 2044.0]), np.array([1, 1, 1]))
    >>> cells.owners.tolist(), cells.text(0, 0), cells.text(1, 1)
    ([0, 0, 1], '[1800–1999]', '[2000–2049]')
    """
    if not len(numbers):
        return ValueRuns(grid, np.empty(0, np.int64), np.zeros((1, 2), np.int64))
    low, high = grid.below(numbers, longer), grid.above(numbers, longer)
    # Numbers between two grid points are never an end.
    rare = (persons == 1) & (low == high)
    lone = rare & ~_in_long_runs(low, high, rare, persons)
    earliest, latest = high[:-1] + 1 + lone[:-1], low[1:] - lone[1:]
    apart = earliest <= latest
    inner = np.column_stack([earliest[apart], latest[apart]])
    return ValueRuns(grid, _numbered(apart), np.vstack([_first(low, rare), inner, _last(high, rare)]))


@dataclass(frozen=True, slots=True)
class Tail:
    """Values that a hierarchy top- or bottom-codes.

    Attributes:
        count: How many of the values there are.
        limit: The limit that they exceed; label: their published label.
    """

    count: int
    limit: float
    label: str


def with_tails(cells: ValueRuns, inner: Floats, bottom: Tail | None, top: Tail | None) -> ValueRuns:
    """Return cells of the values that are not coded, with one more at each end for those that are.

    Args:
        inner: The numbers of the values that are not coded, ascending.

    >>> from sfumato.microdata.recoding.range_grid import NumberGrid
    >>> inner = np.array([30.0, 40.0])
    >>> cells = with_tails(cells_of(NumberGrid(0), inner, np.array([5, 5])), inner, Tail(2, 20.0, "<20"), None)
    >>> cells.owners.tolist(), cells.text(0, 0), cells.text(0, 1), cells.text(1, 2), cells.text(0, 2)
    ([0, 0, 1, 2], '<20', '<40', '[20–40]', '*')
    """
    starts, owners, grid = cells.starts, cells.owners, cells.grid
    if bottom is not None:
        step = int(min([*grid.above(np.array([bottom.limit])), *grid.below(inner[:1])]))
        starts = np.vstack([(step, step), (step, step), starts[1:]])
        owners = np.concatenate([np.zeros(bottom.count, np.int64), owners + 1])
    if top is not None:
        step = int(max([*grid.below(np.array([top.limit])), *grid.above(inner[-1:])])) + 1
        starts = np.vstack([starts[:-1], (step, step), (step, step)])
        owners = np.append(owners, np.full(top.count, len(starts) - 2))
    return replace(
        cells,
        owners=owners,
        starts=starts,
        below=None if bottom is None else bottom.label,
        above=None if top is None else top.label,
    )


def _numbered(apart: BoolArray) -> Ints:
    """Return the run of each value, from whether neighbors are separated."""
    return np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)


def _in_long_runs(low: Ints, high: Ints, rare: BoolArray, persons: Counts) -> BoolArray:
    """Return which values lie in a run of neighbors so long that it must be cut."""
    runs = _numbered(high[:-1] + 1 + rare[:-1] <= low[1:] - rare[1:])
    return (np.bincount(runs)[runs] > _LONG) & _among_many(low[persons > 0], low)


def _among_many(values: Ints, steps: Ints) -> BoolArray:
    """Return which grid points have values on all points around them."""
    occupied = np.unique(values)
    if not len(occupied):
        return np.zeros(len(steps), bool)
    low, high = np.maximum(steps - _AROUND, occupied[0]), np.minimum(steps + _AROUND, occupied[-1])
    between = np.searchsorted(occupied, high, "right") - np.searchsorted(occupied, low, "left")
    return np.asarray(between == high - low + 1)


def _first(low: Ints, rare: BoolArray) -> tuple[int, int]:
    """Return the grid points at which the first cell may begin; positive values never begin below zero."""
    least, span = int(low[0]), int(low[-1] - low[0])
    if not rare[0] or least == 0:
        return least, least
    beyond = least - 1 - span // _BEYOND
    return max(beyond, 0) if least > 0 else beyond, least - 1


def _last(high: Ints, rare: BoolArray) -> tuple[int, int]:
    """Return the grid points at which a cell after the last one might begin."""
    most, span = int(high[-1]), int(high[-1] - high[0])
    return (most + 2, most + 2 + span // _BEYOND) if rare[-1] else (most + 1, most + 1)
