"""Axes along which Mondrian cuts: the order of each quasi-identifier's values, and the extent of a class along it.

- numbers and dates are ordered by size and published as `[min–max]`; a class covers (max - min) / (range over the
  file), or, if the column has a hierarchy, the share of the hierarchy's values that lie in the range, as on any level
  of it; if ranges end at cuts, neighbors between which no cut is possible share a position (cells.py), and so do the
  values that the hierarchy top- or bottom-codes;
- the values of a hierarchy are ordered so that every branch is contiguous, the branches and values with most rows
  first; a class covers the values below their lowest common ancestor, which is published;
- other values are ordered by their number of rows, in decreasing order; a class covers the values it contains,
  published as `{a, b}`.

The missing value comes last. A class that contains it together with other values is published as `*` and covers all.
"""

from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.types import inexact, ranks_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import regroup
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.models.persons import PERSONS, persons_in
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.recoding.mapping import STAR
from sfumato.microdata.recoding.range_grid import NONE_LONGER, Longer, RangeGrid, grid_of, range_text
from sfumato.values import Value, replace

Ints = npt.NDArray[np.int64]
# Maximum number of neighbors, each of a single person, that stay together; random numbers hardly ever have more.
_LONG = 30
# A value with values on all grid points within this distance counts as one of many.
_AROUND = 5
# Maximum distance of the outermost ends from the values, as a share of their range.
_BEYOND = 10


class ValueRuns(Value):
    """The runs of values of an axis.

    A cut lies between two values of the data, which often belong to single persons. Ranges therefore end at the
    roundest numbers in between (the first of a year, a round number), and the first and last range at round ones
    outside the data. If neighbors are so close that an end would be the value of a single person, they form one run.
    Only if a run would be long, because every round number is some value, is it cut nevertheless: such an end reveals
    no single person.

    Values that the hierarchy codes (`bottom: 20`, `top: 80`) form one run at each end, published as `<20` and `>80`; a
    range that reaches into such a run is open there (`<36`), because its end would be an extreme value or a typing
    error.

    Attributes:
        owners: The cell of each value, in their order.
        starts: The first and last grid point at which each cell may begin, and one after the last, (cells + 1, 2).
        below: The label of the first cell if it contains bottom-coded values.
        above: The label of the last cell if it contains top-coded values.
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
        persons: The number of persons, or of rows, with each value.
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


class Tail(Value):
    """Values that a hierarchy top- or bottom-codes.

    Attributes:
        count: The number of the values.
        limit: The limit that the values exceed.
        label: The published label of these values.
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


Kind = Literal["numbers", "tree", "set"]
Places = npt.NDArray[np.int32]


class Axis(Value, dict=True):
    """One quasi-identifier in order.

    Attributes:
        order: The value codes in order.
        numbers: The number of each value code, where the axis has numbers; NaN for the missing value.
        measures: The same on the scale of the loss: the rank of a value in its hierarchy, or its number.
        rows: Rows of each value code.
        weight: The weight of the column in the loss.
        cells: Values that share a position, if ranges end at cuts or values are coded; else one cell per value.
        by_cuts: Whether ranges are bounded by cuts, or by the values of their classes.
    """

    kind: Kind
    ladder: Hierarchy
    order: npt.NDArray[np.int64]
    numbers: Floats | None
    rows: Counts
    weight: float = 1.0
    measures: Floats | None = None
    cells: ValueRuns | None = None
    by_cuts: bool = False

    @property
    def size(self) -> int:
        """The number of positions."""
        if self.cells is None:
            return len(self.order)
        return self.cells.count + (None in self.ladder.places)

    @cached_property
    def places(self) -> Places:
        """The position of each value code in the order."""
        places = np.empty(len(self.order), np.int32)
        places[self.order] = np.arange(len(self.order), dtype=np.int32)
        if self.cells is not None:
            # The missing value comes after all cells.
            places[self.order[: len(self.cells.owners)]] = self.cells.owners
            places[self.order[len(self.cells.owners) :]] = self.cells.count
        return places

    @property
    def missing(self) -> int:
        """The position of the missing value, -1 if there is none."""
        return int(self.places[self.ladder.places[None]]) if None in self.ladder.places else -1

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """For each value code whether rows have it; false for the missing value."""
        mask: npt.NDArray[np.bool_] = self.rows > 0
        mask[[value is None for value in self.ladder.values]] = False
        return mask

    @cached_property
    def positions(self) -> Floats:
        """The middle of each position on the scale of loss; infinite for the missing value."""
        low, high = self.extremes
        return (low + high) / 2

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """The minimum and maximum measure at each position; infinite for the missing value."""
        if self.measures is None:
            return np.zeros(self.size), np.zeros(self.size)
        measures = np.where(np.isnan(self.measures), np.inf, self.measures)
        low, high = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        np.minimum.at(low, self.places, measures)
        np.maximum.at(high, self.places, measures)
        return low, high

    @cached_property
    def is_single(self) -> npt.NDArray[np.bool_]:
        """For each position whether it is a single value that may be published; not if the hierarchy codes it."""
        single = np.bincount(self.places, minlength=self.size) == 1
        if self.cells is not None:
            single[: self.cells.count] &= [not self.cells.is_coded(cell) for cell in range(self.cells.count)]
        return np.asarray(single)

    def ends_by_cells(self, low: int, high: int) -> bool:
        """Return whether a range between two positions ends at the ends of its cells, not at values."""
        return self.cells is not None and (self.by_cuts or self.cells.is_coded(low) or self.cells.is_coded(high))

    @cached_property
    def scale(self) -> float:
        """One over the range of the measures, or over the number of values less one."""
        if self.measures is None:
            return 1.0 / max(int(self.present.sum()) - 1, 1)
        span = float(np.ptp(self.measures[~np.isnan(self.measures)])) if self.present.any() else 0.0
        return 1.0 / span if span > 0 else 1.0

    def levels(self) -> tuple[list[npt.NDArray[np.int64]], list[Floats]]:
        """For each level, the label at each position and its loss; axes other than trees have original values only."""
        if self.kind != "tree":
            return [np.arange(self.size)], [np.zeros(self.size)]
        codes = [level[self.order].astype(np.int64) for level in self.ladder.codes]
        return codes, [penalty[code] for penalty, code in zip(self.ladder.penalties, codes, strict=True)]


def axes_of(table: FrequencyTable, plan: Plan, by_cuts: bool) -> tuple[Axis, ...]:
    """Return the axes of a table.

    Args:
        by_cuts: Whether ranges are bounded by cuts, or by the values of their classes.
    """
    axes = []
    for place, (name, ladder) in enumerate(zip(table.columns, table.ladders, strict=True)):
        axis = replace(axis_of(ladder, plan.columns[name], table.marginal(place)), by_cuts=by_cuts)
        axes.append(_with_cells(axis, plan.columns[name], _persons(table, place)))
    return tuple(axes)


def _persons(table: FrequencyTable, place: int) -> Counts:
    """Return the persons who have each value of a column, or its rows without a person column."""
    if PERSONS not in table.persons:
        return table.marginal(place)
    return persons_in(
        regroup(table.persons[PERSONS], table.codes[:, place].astype(np.int64), table.ladders[place].size)
    )


def _with_cells(axis: Axis, column: ColumnPlan, persons: Counts) -> Axis:
    """Return the axis with shared positions for values between which no range can end, and for coded values."""
    if axis.numbers is None:
        return axis
    order = axis.order[~np.isnan(axis.numbers[axis.order])]
    numbers = axis.numbers[order]
    bottom, top = _tails(axis.ladder, column, order, numbers)
    if not len(order) or not (axis.by_cuts or bottom or top):
        return axis
    inner = slice(bottom.count if bottom else 0, len(order) - (top.count if top else 0))
    # If ranges end at values, no positions need to be merged for persons.
    members = persons[order] if axis.by_cuts else np.full(len(order), 2, np.int64)
    longer = inexact([axis.ladder.values[code] for code in order[inner].tolist()], numbers[inner])
    cells = cells_of(grid_of(column, numbers), numbers[inner], members[inner], longer)
    return replace(axis, cells=with_tails(cells, numbers[inner], bottom, top))


def _tails(
    ladder: Hierarchy, column: ColumnPlan, order: npt.NDArray[np.int64], numbers: Floats
) -> tuple[Tail | None, Tail | None]:
    """Return the values that a hierarchy codes below and above, if there are some."""
    hierarchy = column.hierarchy
    if not isinstance(hierarchy, Intervals):
        return None, None

    def tail(limit: float | None, codes: npt.NDArray[np.int64]) -> Tail | None:
        if limit is None or not len(codes):
            return None
        return Tail(len(codes), float(limit), str(ladder.labels[1][int(ladder.codes[1][codes[0]])]))

    low, high = hierarchy.bottom, hierarchy.top
    return (
        tail(low, order[numbers < low] if low is not None else order[:0]),
        tail(high, order[numbers > high] if high is not None else order[:0]),
    )


def axis_of(ladder: Hierarchy, column: ColumnPlan, rows: Counts) -> Axis:
    """Return the axis of a column.

    >>> from sfumato.hierarchies.hierarchy import make_hierarchy
    >>> column = ColumnPlan("quasi-identifier", "integer")
    >>> axis_of(make_hierarchy(["10", "9"], []), column, np.array([1, 1])).order.tolist()
    [1, 0]
    """
    numbers = ladder.numbers_as(column.type)
    if numbers is not None:
        order = np.argsort(ranks_of(ladder.values, numbers), kind="stable")
        measures = numbers if column.hierarchy is None else _ranks(numbers, order)
        return Axis("numbers", ladder, order, numbers, rows, column.weight, measures)
    absent = np.array([value is None for value in ladder.values], bool)
    if column.hierarchy is None:
        return Axis("set", ladder, np.lexsort((-rows, absent)), None, rows, column.weight)
    return Axis("tree", ladder, np.lexsort((*_by_branch(ladder, rows), absent)), None, rows, column.weight)


def _ranks(numbers: Floats, order: npt.NDArray[np.int64]) -> Floats:
    """Return the number of values of the hierarchy that precede each value; NaN for the missing value."""
    ranks = np.empty(len(numbers))
    ranks[order] = np.arange(len(numbers))
    return np.where(np.isnan(numbers), np.nan, ranks)


def _by_branch(ladder: Hierarchy, rows: Counts) -> list[npt.NDArray[np.int64]]:
    """Return keys that sort values branch by branch, the largest first; the primary key comes last."""
    keys: list[npt.NDArray[np.int64]] = []
    for codes in ladder.codes:
        held = np.bincount(codes, weights=rows).astype(np.int64)
        keys += [codes.astype(np.int64), -held[codes]]
    return keys
