"""Interval grids: the intervals of one level over a range of numbers, and their labels."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import Numbers
from sfumato.hierarchies.types import exact, plain

MOST_CUTS = 1_000_000


@dataclass(frozen=True, slots=True)
class IntervalGrid:
    """Intervals between cuts; the first begins at the range's start, the last ends with the range's end.

    Attributes:
        cuts: The starts of intervals, ascending; exact decimals, because 0.3 is no multiple of 0.1 in binary.
        limits: The lowest and highest value that is not coded: intervals that exceed it end there in their labels.
        end: The highest value of the range.
        whole: Whether values are integers.
    """

    cuts: tuple[Decimal, ...]
    limits: tuple[Decimal, Decimal]
    end: Decimal
    whole: bool

    @property
    def count(self) -> int:
        """Return the number of intervals."""
        return len(self.cuts)

    def cells(self, numbers: Numbers) -> npt.NDArray[np.int64]:
        """Return the interval of each number."""
        return np.searchsorted(np.array(self.cuts, np.float64), numbers, side="right").astype(np.int64) - 1

    def label(self, cell: int) -> str:
        """Return the label of an interval."""
        low, last = max(self.cuts[cell], self.limits[0]), min(self.end, self.limits[1])
        above = self.cuts[cell + 1] if cell + 1 < self.count else None
        if self.whole:
            return _whole_label(low, last if above is None else min(above - 1, last))
        closed = above is None or above > last
        return f"[{plain(low)}, {plain(last)}]" if closed else f"[{plain(low)}, {plain(above or last)})"

    def text(self, number: float) -> str:
        """A limit as text."""
        return plain(exact(number))

    def check_above(self, fine: "IntervalGrid") -> None:
        """Refuse to be the level above a finer grid whose intervals it would cut.

        Raises:
            ValueError: If an interval begins here where none begins below.
        """
        loose = sorted(set(self.cuts) - set(fine.cuts))
        if loose:
            raise ValueError(
                f"levels do not nest: an interval begins at {plain(loose[0])}, where none begins one level below."
            )


def grid_of(
    range_: tuple[float, float], limits: tuple[float, float], level: float | Sequence[float], whole: bool
) -> IntervalGrid:
    """Return the grid of one level, from the width of its intervals or from their starts."""
    start, end = exact(range_[0]), exact(range_[1])
    cuts = _by_width(start, end, exact(level)) if isinstance(level, int | float) else _by_bounds(start, end, level)
    if not whole:
        # The end belongs to the last interval, not to one of its own.
        cuts = tuple(cut for cut in cuts if cut < end)
    return IntervalGrid(cuts, (exact(limits[0]), exact(limits[1])), end, whole)


def _by_width(start: Decimal, end: Decimal, width: Decimal) -> tuple[Decimal, ...]:
    if width <= 0:
        raise ValueError("widths must be greater than 0.")
    count = int((end - start) / width) + 1
    if count > MOST_CUTS:
        raise ValueError(f"the width {plain(width)} makes more than {MOST_CUTS} intervals.")
    return tuple(start + width * place for place in range(count))


def _by_bounds(start: Decimal, end: Decimal, bounds: Sequence[float]) -> tuple[Decimal, ...]:
    cuts = [exact(bound) for bound in bounds]
    if any(high <= low for low, high in pairwise(cuts)):
        raise ValueError("the bounds of a level must ascend.")
    if cuts[0] < start or cuts[-1] > end:
        raise ValueError("bounds must lie between start and end.")
    return (start, *(cut for cut in cuts if cut > start))


def _whole_label(low: Decimal, high: Decimal) -> str:
    if low == high:
        return plain(low)
    return f"{plain(low)}-{plain(high)}" if low >= 0 else f"[{plain(low)}, {plain(high)}]"
