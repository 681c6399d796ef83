"""The grid of round numbers or dates on which the ends of published ranges lie, written and parsed.

A range `[low–high]` contains every value from its low end to its high one; a day, month or year at its end is included
completely.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.dates import Dates, directives, read_moments
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.types import MANY_DIGITS, exact, numerals, plain
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.values import Value

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Longer = Mapping[int, Decimal]
NONE_LONGER: Longer = {}
Period = Literal["D", "M", "Y"]
_ISO = "%Y-%m-%d"
_OPEN, _DASH, _CLOSE = "[", "–", "]"
# Formats with ambiguous texts: two times with one text, or one day with several.
_AMBIGUOUS = set("HIMSfcXy")
_UNIX_ORDINAL = 719163
# Maximum number of grid points counted from zero, so that floating-point numbers distinguish them.
_MOST_DIGITS = 11
_NEAR = 1e-4
# Rounding errors of multiplication are less than _NEAR below this product.
_SURE = 1e11
_FARTHEST = 2.0**62
_YEARS = (100, 10, 5, 2, 1)
_MONTHS = (1200, 120, 60, 12, 6, 3, 1)
_DAYS = (10, 5, 2, 1)


class RangeGrid(Protocol):
    """Numbered grid points.

    `longer` has the exact numbers, by index, that floating-point numbers cannot represent.
    """

    def below(self, numbers: Floats, longer: Longer = ...) -> Ints:
        """Return the last grid point that is not above each number."""
        ...

    def above(self, numbers: Floats, longer: Longer = ...) -> Ints:
        """Return the first grid point that is not below each number."""
        ...

    def roundest(self, low: int, high: int) -> int:
        """Return the roundest grid point in a range."""
        ...

    def text(self, step: int) -> str:
        """Return the text of a grid point."""
        ...

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the numbers of grid points as written; NaN for other texts."""
        ...


class NumberGrid(Value):
    """Numbers with a number of decimals; negative for tens, hundreds, ...

    >>> grid = NumberGrid(1)
    >>> grid.text(grid.roundest(584, 613)), grid.text(grid.roundest(587, 589))
    ('60', '58.8')
    """

    decimals: int

    def below(self, numbers: Floats, longer: Longer = NONE_LONGER) -> Ints:
        return self._steps(numbers, longer, np.floor, ROUND_FLOOR)

    def above(self, numbers: Floats, longer: Longer = NONE_LONGER) -> Ints:
        return self._steps(numbers, longer, np.ceil, ROUND_CEILING)

    def has(self, numbers: Floats) -> BoolArray:
        """Return which numbers are exactly grid points."""
        steps = np.rint(numbers * 10.0**self.decimals)
        values = steps / 10.0**self.decimals if self.decimals >= 0 else steps * 10.0**-self.decimals
        return np.asarray((values == numbers) & (np.abs(steps) < _SURE))

    def _steps(self, numbers: Floats, longer: Longer, rounded: Callable[[Floats], Floats], rounding: str) -> Ints:
        """Return the grid points of numbers; numbers too near to one are compared by their decimals."""
        scaled = numbers * 10.0**self.decimals
        nearest = np.rint(scaled)
        are_steps = self.has(numbers)
        # A coded value may exceed all grid points: it is never an end.
        steps = np.clip(np.where(are_steps, nearest, rounded(scaled)), -_FARTHEST, _FARTHEST).astype(np.int64)
        unsure = ~are_steps & ((np.abs(scaled - nearest) < _NEAR) | ~(np.abs(scaled) < _SURE))
        unsure[[*longer]] = True
        for place in np.flatnonzero(unsure & (np.abs(scaled) < _FARTHEST)).tolist():
            written = longer.get(place) or exact(float(numbers[place]))
            steps[place] = int(written.scaleb(self.decimals, MANY_DIGITS).to_integral_value(rounding))
        return steps

    def roundest(self, low: int, high: int) -> int:
        largest = len(str(max(abs(low), abs(high))))
        return _multiple(low, high, (step for power in range(largest, -1, -1) for step in _round_steps(power)))

    def text(self, step: int) -> str:
        return plain(Decimal(step).scaleb(-self.decimals))

    def read(self, texts: Sequence[str]) -> Floats:
        return numerals(texts)


class DateGrid(Value):
    """Days, months or years.

    >>> grid = DateGrid("D", "%d.%m.%Y")
    >>> steps = grid.below(np.array([date(1978, 4, 10).toordinal(), date(1978, 6, 16).toordinal()], float))
    >>> grid.text(grid.roundest(*steps.tolist()))
    '01.06.1978'
    """

    period: Period
    format: str

    def below(self, numbers: Floats, longer: Longer = NONE_LONGER) -> Ints:
        del longer  # days are represented exactly
        days = (np.floor(numbers).astype(np.int64) - _UNIX_ORDINAL).astype("M8[D]")
        return days.astype(f"M8[{self.period}]").astype(np.int64)

    def above(self, numbers: Floats, longer: Longer = NONE_LONGER) -> Ints:
        return self.below(numbers, longer)

    def roundest(self, low: int, high: int) -> int:
        if self.period == "Y":
            return _multiple(low + 1970, high + 1970, _YEARS) - 1970
        if self.period == "M":
            return _multiple(low + 1970 * 12, high + 1970 * 12, _MONTHS) - 1970 * 12
        last = self._date(high)
        starts = (date(max(last.year // 10 * 10, 1), 1, 1), date(last.year, 1, 1), last.replace(day=1))
        days = [start.toordinal() - _UNIX_ORDINAL for start in starts]
        return next((day for day in days if day >= low), _multiple(low, high, _DAYS))

    def text(self, step: int) -> str:
        day = self._date(step)
        return day.isoformat() if self.format == _ISO else day.strftime(self.format)

    def read(self, texts: Sequence[str]) -> Floats:
        moments = read_moments(texts, self.format)
        return np.where(moments.valid, moments.ordinals, np.nan)

    def _date(self, step: int) -> date:
        moment: date = np.datetime64(step, self.period).astype("M8[D]").item()
        return moment


def _round_steps(power: int) -> tuple[int, ...]:
    return (10**power, 5 * 10 ** (power - 1), 2 * 10 ** (power - 1)) if power else (1,)


def _multiple(low: int, high: int, steps: Iterable[int]) -> int:
    """Return the multiple, in a range, of the first step that has one there; the middle one of several.

    >>> _multiple(584, 613, (100, 10)), _multiple(3, 48, (10,))
    (600, 20)
    """
    for step in steps:
        first, last = -(-low // step), high // step
        if first <= last:
            return (first + last) // 2 * step
    return high


def grid_of(column: ColumnPlan, numbers: Floats) -> RangeGrid:
    """Return the grid of a column with these numbers; dates are ordinals."""
    if isinstance(column.hierarchy, Dates):
        return _grid_of_dates(column.hierarchy)
    return DateGrid("D", _ISO) if column.type == "date" else number_grid(numbers[~_coded(column, numbers)])


def _coded(column: ColumnPlan, numbers: Floats) -> npt.NDArray[np.bool_]:
    """Return which numbers the hierarchy top- or bottom-codes; they do not influence the grid."""
    hierarchy = column.hierarchy
    if not isinstance(hierarchy, Intervals):
        return np.zeros(len(numbers), bool)
    low, high = hierarchy.bottom, hierarchy.top
    return (numbers < (-np.inf if low is None else low)) | (numbers > (np.inf if high is None else high))


def _grid_of_dates(hierarchy: Dates) -> DateGrid:
    finest: dict[str, Period] = {"day": "D", "month": "M", "year": "Y"}
    if hierarchy.formats or directives(hierarchy.format) & _AMBIGUOUS:
        return DateGrid("D", _ISO)
    return DateGrid(finest[hierarchy.finest], hierarchy.format)


def number_grid(numbers: Floats) -> NumberGrid:
    """Return the coarsest grid that contains all numbers, or the finest one that floating-point numbers represent."""
    most = _MOST_DIGITS - len(str(int(np.abs(numbers).max(initial=0.0))))
    grids = map(NumberGrid, range(most))
    return next((grid for grid in grids if grid.has(numbers).all()), NumberGrid(most))


def range_text(low: str | None, high: str | None) -> str:
    """Return the published text of a range."""
    return f"{_OPEN}{low}{_DASH}{high}{_CLOSE}"


def range_ends(label: str | None) -> tuple[str, str] | None:
    """Return the ends of a published range; None if a label is no range.

    >>> range_ends("[1950-01-01–1959-12-31]"), range_ends("*")
    (('1950-01-01', '1959-12-31'), None)
    """
    if not label or label[0] != _OPEN or label[-1] != _CLOSE:
        return None
    low, dash, high = label[1:-1].partition(_DASH)
    return (low, high) if dash else None


def set_members(label: str | None) -> tuple[str, ...]:
    """Return the members of a published set; none if a label is no set.

    >>> set_members("{72021, 72023}"), set_members("72021")
    (('72021', '72023'), ())
    """
    return tuple(label[1:-1].split(", ")) if label and label[0] == "{" and label[-1] == "}" else ()
