"""The hierarchy `intervals`: numbers in intervals of growing width, with top and bottom coding."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import BoundHierarchy, Level, Numbers, assemble, level_of_keys
from sfumato.hierarchies.lists import PathFree
from sfumato.hierarchies.types import exact, inexact, numerals, plain, ranks_of
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.values import Value, replace

MOST_CUTS = 1_000_000
# Up to this size, every integer of the range is in the domain; beyond it, only those of the data.
MAX_DOMAIN = 100_000
# Doubles are exact up to here.
_EXACT = 2**53
NumberKind = Literal["whole", "decimal"]
Cuts = Annotated[tuple[float, ...], KeyInfo(at_least=1)]


class IntervalGrid(Value):
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
        """Return a limit as text."""
        return plain(exact(number))

    def check_above(self, fine: "IntervalGrid") -> None:
        """Refuse to be the level above a finer grid whose intervals it would cut."""
        loose = sorted(set(self.cuts) - set(fine.cuts))
        if loose:
            raise ValueError(Message("error.value.loose", number=plain(loose[0])))


def grid_of(
    range_: tuple[float, float], limits: tuple[float, float], level: float | Sequence[float], whole: bool
) -> IntervalGrid:
    """Return the grid of one level, from the width of its intervals or from their starts."""
    start, end = exact(range_[0]), exact(range_[1])
    cuts = _by_width(start, end, exact(level)) if isinstance(level, int | float) else _by_bounds(start, end, level)
    if not whole:
        # The end belongs to the last interval, not to a separate one.
        cuts = tuple(cut for cut in cuts if cut < end)
    return IntervalGrid(cuts, (exact(limits[0]), exact(limits[1])), end, whole)


def _by_width(start: Decimal, end: Decimal, width: Decimal) -> tuple[Decimal, ...]:
    if width <= 0:
        raise ValueError(Message("error.value.widths"))
    count = int((end - start) / width) + 1
    if count > MOST_CUTS:
        raise ValueError(Message("error.value.many_intervals", width=plain(width), count=MOST_CUTS))
    return tuple(start + width * place for place in range(count))


def _by_bounds(start: Decimal, end: Decimal, bounds: Sequence[float]) -> tuple[Decimal, ...]:
    cuts = [exact(bound) for bound in bounds]
    if any(high <= low for low, high in pairwise(cuts)):
        raise ValueError(Message("error.value.ascend"))
    if cuts[0] < start or cuts[-1] > end:
        raise ValueError(Message("error.value.between"))
    return (start, *(cut for cut in cuts if cut > start))


def _whole_label(low: Decimal, high: Decimal) -> str:
    if low == high:
        return plain(low)
    return f"{plain(low)}-{plain(high)}" if low >= 0 else f"[{plain(low)}, {plain(high)}]"


class Intervals(PathFree):
    """Numbers from start to end (both included) in intervals, one width per level, then `*`.

    If all parameters are integers, so must the values be, unless `numbers` says decimal: the domain is then every
    integer from start to end, and an interval is published as `16-20`. Otherwise the domain is the data's values, and
    it
    is `[0.5, 1.5)`.
    Values outside are rejected, unless they are coded: with `bottom: 20` all values below 20 are published as `<20` at
    every level from the first up to the root, and with `top: 80` all above 80 as `>80`; an interval that extends
    across such a limit is cut there.

    Attributes:
        start: The lowest value, by default `bottom`; with widths it may be left open: then the data's lowest value,
            rounded down to a multiple of the widest width, so that labels do not reveal it.
        end: The highest value, by default `top`; it may be left open likewise.
        widths: The width of the intervals at each level, counted from start; each a multiple of the one before.
        bounds: Instead of widths: the starts of the intervals of each level; each a subset of the one before.
        bottom: The limit below which values are coded.
        top: The limit above which values are coded.
        numbers: Whether values are integers or decimals; by default inferred from the parameters.

    >>> Intervals(16, 95, widths=(5, 20)).fit(["39"]).hierarchy.published("39", 1)
    '36-40'
    """

    name: ClassVar[str] = "intervals"
    start: Annotated[float | None, KeyInfo("The lowest value.")] = None
    end: Annotated[float | None, KeyInfo("The highest value.")] = None
    widths: Annotated[tuple[float, ...], KeyInfo("The width of the intervals at each level.", at_least=1)] = ()
    bounds: Annotated[
        tuple[Cuts, ...], KeyInfo("Instead of widths: where intervals begin, per level.", at_least=1)
    ] = ()
    bottom: Annotated[float | None, KeyInfo("Values below it are published as <bottom.")] = None
    top: Annotated[float | None, KeyInfo("Values above it are published as >top.")] = None
    numbers: Annotated[NumberKind | None, KeyInfo("What the values are; by the parameters unless given.")] = None

    def __post_init__(self) -> None:
        if bool(self.widths) == bool(self.bounds):
            raise ValueError(Message("error.value.widths_or_bounds"))
        if self.is_open and not self.widths:
            raise ValueError(Message("error.value.start_end"))
        if not all(width > 0 for width in self.widths):
            raise ValueError(Message("error.value.widths"))
        if self.is_open:
            self._check_multiples()
            return
        low, high = self.range
        if low >= high or not low <= self.limits[0] <= self.limits[1] <= high:
            raise ValueError(Message("error.value.start_below"))
        if max(abs(low), abs(high)) > _EXACT:
            raise ValueError(Message("error.value.start_zero", number=_EXACT))
        if self.numbers == "whole" and not self._whole_parameters():
            raise ValueError(Message("error.value.whole_parameters"))
        self._grids()

    @property
    def is_open(self) -> bool:
        """Whether an end of the range is left to the data."""
        return (self.start is None and self.bottom is None) or (self.end is None and self.top is None)

    @property
    def is_rule_based(self) -> bool:
        return not self.is_open

    def _check_multiples(self) -> None:
        """Check that each width is a multiple of the one before, so that levels nest for every range of the data."""
        for small, large in pairwise(self.widths):
            if not _is_multiple(large, small):
                raise ValueError(Message("error.value.multiple", large=large, small=small))

    def _between(self, numbers: Numbers) -> "Intervals":
        """Return the hierarchy with its open ends taken from numbers."""
        present = numbers[~np.isnan(numbers)]
        step = exact(float(max(self.widths)))
        lowest, highest = (
            (exact(float(end)) for end in (present.min(), present.max())) if len(present) else (step, step)
        )
        whole = self.numbers == "whole" or (self.numbers is None and bool((np.floor(present) == present).all()))
        start = self.bottom if self.start is None else self.start
        low = lowest // step * step - (step if lowest < 0 else 0) if start is None else exact(float(start))
        end = self.top if self.end is None else self.end
        high = low + ((max(highest, low) - low) // step + 1) * step - whole if end is None else exact(float(end))
        kind: NumberKind = "whole" if whole else "decimal"
        return replace(self, start=float(low), end=float(high), numbers=self.numbers or kind)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        start = self.bottom if self.start is None else self.start
        end = self.top if self.end is None else self.end
        return float(start or 0), float(end or 0)

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value that is not coded."""
        low, high = self.range
        return low if self.bottom is None else self.bottom, high if self.top is None else self.top

    @property
    def whole(self) -> bool:
        """Whether this is a hierarchy of integers."""
        return self.numbers == "whole" or (self.numbers is None and self._whole_parameters())

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the range's integers or of the data's numbers, ascending."""
        closed = self._closed(values)
        low, high = closed.range
        whole = closed.whole and high - low < MAX_DOMAIN
        return closed._bind(values, range(int(low), int(high) + 1) if whole else range(0))

    def bind_alone(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the given values only, which shows whether they fit and is fast for wide ranges."""
        return self._closed(values)._bind(values, range(0))

    def _closed(self, values: Sequence[str]) -> "Intervals":
        """Return the hierarchy with both ends set.

        Raises:
            PlanError: The widths form no intervals between the ends of these values.
        """
        try:
            return self._between(numerals(values)) if self.is_open else self
        except InvalidOperation:  # more intervals than floating-point numbers distinguish
            fault: str = Message("error.part.many_intervals", width=min(self.widths), count=MOST_CUTS)
        except ValueError as error:
            fault = error.args[0]
        raise PlanError("hierarchy.intervals", fault=fault) from None

    def _bind(self, values: Sequence[str], further: Sequence[int]) -> BoundHierarchy:
        """Return the hierarchy of the values and of further integers."""
        numbers = numerals(values)
        fits = self._fits(numbers)
        for place, number in inexact(values, numbers).items():
            fits[place] = self._fits_exactly(number)
        kept = [value for value, fit in zip(values, fits, strict=True) if fit]
        texts, ordered = _domain(kept, numbers[fits], further)
        rejected = tuple(value for value, fit in zip(values, fits, strict=True) if not fit)
        longer = inexact(texts, ordered)
        return BoundHierarchy(
            assemble(texts, [self._level(grid, ordered, longer) for grid in self._grids()], ordered), rejected
        )

    def _whole_parameters(self) -> bool:
        cuts = [cut for level in self.bounds for cut in level]
        return all(float(number).is_integer() for number in (*self.range, *self.limits, *self.widths, *cuts))

    def _fits(self, numbers: Numbers) -> npt.NDArray[np.bool_]:
        low, high = self.range
        fits = ~np.isnan(numbers)
        if self.bottom is None:
            fits &= numbers >= low
        if self.top is None:
            fits &= numbers <= high
        return fits & (np.floor(numbers) == numbers) if self.whole else fits

    def _fits_exactly(self, number: Decimal) -> bool:
        low, high = map(exact, self.range)
        fits = (self.bottom is not None or number >= low) and (self.top is not None or number <= high)
        return fits and (number == number.to_integral_value() if self.whole else True)

    def _grids(self) -> list[IntervalGrid]:
        """Return the grid of each level, checked to be nested in the grid below."""
        grids = [grid_of(self.range, self.limits, level, self.whole) for level in self.widths or self.bounds]
        for fine, coarse in pairwise(grids):
            coarse.check_above(fine)
        return grids

    def _level(self, grid: IntervalGrid, numbers: Numbers, longer: Mapping[int, Decimal]) -> Level:
        bottom, top = self.limits
        keys = grid.cells(numbers)
        keys[numbers < bottom], keys[numbers > top] = -1, grid.count
        for place, number in longer.items():
            inner = bisect_right(grid.cuts, number) - 1
            keys[place] = -1 if number < exact(bottom) else grid.count if number > exact(top) else inner
        coded = {-1: f"<{grid.text(bottom)}", grid.count: f">{grid.text(top)}"}
        return level_of_keys(keys, lambda key: coded.get(key) or grid.label(key))


def _is_multiple(large: float, small: float) -> bool:
    try:
        return exact(float(large)) % exact(float(small)) == 0
    except InvalidOperation:  # too large for the precision of floating-point numbers
        return False


def _domain(texts: list[str], numbers: Numbers, further: Sequence[int]) -> tuple[list[str], Numbers]:
    """Return texts with their numbers and those of further integers, ascending; equal numbers stay separate."""
    present = set(texts)
    added = {text: number for number in further if (text := str(number)) not in present}
    texts, numbers = [*texts, *added], np.append(numbers, np.fromiter(added.values(), float, len(added)))
    order = np.argsort(numbers, kind="stable")
    if not (np.diff(numbers[order]) > 0).all():
        by_text = np.argsort(np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64))
        order = np.lexsort((by_text, ranks_of(texts, numbers)))
    return [texts[place] for place in order.tolist()], numbers[order]
