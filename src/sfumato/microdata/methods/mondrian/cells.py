"""Cells: runs of neighboring values between which Mondrian does not cut, because a range would end at somebody's value.

A cut lies between two values of the data, each of them often that of a single person. So ranges end at the roundest
steps between (the first of a year, a round number), and the first and last range at round ones beyond. Where neighbors
lie so close that an end would be the value of a single person, they stay in one cell. Only where a cell would be long,
since every step around is some value, is it cut nevertheless: there an end tells of nobody.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.classes import Counts, Floats, Mask
from sfumato.microdata.recoding.grids import Grid, range_text

Ints = npt.NDArray[np.int64]
# So many neighbors stay together though each is of a single person; of numbers drawn by chance hardly ever more do.
_LONG = 30
# Where all steps so far around a value are values too, it is taken for one of many.
_AROUND = 5
# The outermost ends lie beyond the values by at most this part of their range.
_BEYOND = 10


@dataclass(frozen=True)
class Cells:
    """The cells of an axis.

    Attributes:
        owners: The cell of each value, in their order.
        lowest, highest: The numbers that each cell begins and ends with.
        starts: The first and the last step with which each cell may begin, and one behind the last, (cells + 1, 2).
    """

    grid: Grid
    owners: Ints
    lowest: Floats
    highest: Floats
    starts: Ints

    @cached_property
    def middles(self) -> Floats:
        return (self.lowest + self.highest) / 2

    def text(self, low: int, high: int) -> str:
        """The range from one cell to another."""
        return range_text(self.grid.text(self._start(low)), self.grid.text(self._start(high + 1) - 1))

    def _start(self, cell: int) -> int:
        return self.grid.roundest(*self.starts[cell].tolist())


def cells_of(grid: Grid, numbers: Floats, persons: Counts) -> Cells:
    """The cells of numbers in ascending order.

    Args:
        persons: How many persons, or rows, have each of them.

    >>> from sfumato.microdata.recoding.grids import NumberGrid
    >>> cells = cells_of(NumberGrid(0), np.array([1812.0, 1813.0, 2044.0]), np.array([1, 1, 1]))
    >>> cells.owners.tolist(), cells.text(0, 0), cells.text(1, 1)
    ([0, 0, 1], '[1800–1999]', '[2000–2049]')
    """
    low, high = grid.below(numbers), grid.above(numbers)
    # What lies between two steps is no end of anything.
    rare = (persons == 1) & (low == high)
    lone = rare & ~_in_long_runs(low, high, rare, persons)
    earliest, latest = high[:-1] + 1 + lone[:-1], low[1:] - lone[1:]
    apart = earliest <= latest
    owners = _numbered(apart)
    firsts = np.concatenate([[0], np.flatnonzero(apart) + 1])
    lasts = np.concatenate([firsts[1:] - 1, [len(numbers) - 1]])
    inner = np.column_stack([earliest[apart], latest[apart]])
    return Cells(
        grid, owners, numbers[firsts], numbers[lasts], np.vstack([_first(low, rare), inner, _last(high, rare)])
    )


def _numbered(apart: Mask) -> Ints:
    """The run of each value, neighbors being apart or not."""
    return np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)


def _in_long_runs(low: Ints, high: Ints, rare: Mask, persons: Counts) -> Mask:
    """Which values lie among many, in a run of neighbors so long that it must be cut."""
    runs = _numbered(high[:-1] + 1 + rare[:-1] <= low[1:] - rare[1:])
    return (np.bincount(runs)[runs] > _LONG) & _among_many(low[persons > 0], low)


def _among_many(values: Ints, steps: Ints) -> Mask:
    """Which steps have values on all steps around them, as far as there are some at all."""
    occupied = np.unique(values)
    low, high = np.maximum(steps - _AROUND, occupied[0]), np.minimum(steps + _AROUND, occupied[-1])
    between = np.searchsorted(occupied, high, "right") - np.searchsorted(occupied, low, "left")
    return np.asarray(between == high - low + 1)


def _first(low: Ints, rare: Mask) -> tuple[int, int]:
    """The steps with which the first cell may begin; nothing that is positive begins below zero."""
    least, span = int(low[0]), int(low[-1] - low[0])
    if not rare[0] or least == 0:
        return least, least
    beyond = least - 1 - span // _BEYOND
    return max(beyond, 0) if least > 0 else beyond, least - 1


def _last(high: Ints, rare: Mask) -> tuple[int, int]:
    """The steps with which a cell behind the last one might begin."""
    most, span = int(high[-1]), int(high[-1] - high[0])
    return (most + 2, most + 2 + span // _BEYOND) if rare[-1] else (most + 1, most + 1)
