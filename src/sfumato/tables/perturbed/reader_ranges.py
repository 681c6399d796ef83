"""What a reader computes from changed numbers: each true value lies near its published one, and true values add up.

Ranges are first narrowed by going through the relations again and again, which is quick and never wrong; then linear
programs find their exact ends, for unsafe cells first, as long as there is time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Relations
from sfumato.tables.deadline import Deadline
from sfumato.tables.programs import Program

ROUNDS = 30


@dataclass(frozen=True, slots=True)
class ReaderRanges:
    """The range of each cell, and for which cells its ends are attained, not only never passed."""

    ranges: Bounds
    attained: Mask


def reader_ranges(
    start: Bounds, relations: Relations, first: Mask, step: float, deadline: Deadline, values: Numbers
) -> ReaderRanges:
    """The ranges of true values.

    Args:
        start: Between which values each cell lies by its published number alone.
        first: The cells whose exact ranges are computed first.
        step: The smallest difference of two values: ends lie on multiples of it.
        values: The true values, which the ranges contain whatever the noise of the programs.
    """
    matrix = relations.matrix(len(values))
    ranges = on_grid(_narrowed(matrix, on_grid(start, step)), step)
    attained = np.isclose(ranges.low, ranges.high)
    program = Program(matrix, Bounds(ranges.low - values, ranges.high - values))
    order = np.concatenate([np.flatnonzero(first & ~attained), np.flatnonzero(~first & ~attained)])
    low, high = ranges.low.copy(), ranges.high.copy()
    for cell in order:
        if deadline.over:
            break
        low[cell] = max(low[cell], values[cell] + min(program.extreme(int(cell), 1.0).value, 0.0))
        high[cell] = min(high[cell], values[cell] + max(program.extreme(int(cell), -1.0).value, 0.0))
        attained[cell] = True
    return ReaderRanges(on_grid(Bounds(low, high), step), attained)


def _narrowed(matrix: Any, start: Bounds) -> Bounds:
    """Ranges narrowed by every relation: a cell is what the others of the relation leave it."""
    low, high = start.low.copy(), start.high.copy()
    entries = matrix.tocoo()
    rows, cells, coefs = entries.row, entries.col, entries.data
    for _ in range(ROUNDS):
        with np.errstate(invalid="ignore"):  # where nothing bounds a cell, its relations say nothing
            ends = np.sort(np.stack([coefs * low[cells], coefs * high[cells]]), axis=0)
            least, most = (np.bincount(rows, end, matrix.shape[0])[rows] - end for end in ends)
            left = np.sort(np.stack([-least / coefs, -most / coefs]), axis=0)
        before = (low.copy(), high.copy())
        np.maximum.at(low, cells, np.nan_to_num(left[0], nan=-np.inf))
        np.minimum.at(high, cells, np.nan_to_num(left[1], nan=np.inf))
        if np.allclose(before[0], low) and np.allclose(before[1], high):
            break
    return Bounds(low, high)


def on_grid(ranges: Bounds, step: float) -> Bounds:
    """Ends on multiples of the step, inwards."""
    return Bounds(np.ceil(ranges.low / step - 1e-6) * step, np.floor(ranges.high / step + 1e-6) * step)
