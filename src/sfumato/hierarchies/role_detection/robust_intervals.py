"""Choose intervals of numbers that are robust to a few extreme values, which are top- or bottom-coded.

If numbers are evenly distributed, intervals have equal width; if most are concentrated, they start at quantiles.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.values import Value

Numbers = npt.NDArray[np.float64]

_INTERVALS = 20
_QUANTILES = 16
# Extreme numbers lie this many interquartile ranges outside the quartiles, or a quarter of the range beyond all but 1
# %.
_FENCE, _TAIL, _SLACK = 3.0, 0.01, 0.25
# If an equal-width interval has this proportion of the rows, equal widths do not suit the numbers.
_CROWDED = 0.15
_AGES, _YEARS = (0, 120), (1850, 2100)
_AGE_WIDTHS = [5, 10, 20, 40]


class NumberDistribution(Value):
    """Distinct numbers, ascending, with the rows that have them."""

    numbers: Numbers
    rows: Numbers

    def quantile(self, share: float) -> float:
        """Return the number at or below which a proportion of the rows lies."""
        places = np.cumsum(self.rows) / self.rows.sum()
        return float(self.numbers[min(int(np.searchsorted(places, share - 1e-12)), len(self.numbers) - 1)])

    def share_within(self, low: float, high: float) -> float:
        """Return the proportion of the rows between two limits, both included."""
        inside = (self.numbers >= low) & (self.numbers <= high)
        return float(self.rows[inside].sum() / self.rows.sum())

    @property
    def core(self) -> tuple[float, float]:
        """The lowest and the highest number that is not extreme."""
        first, third = self.quantile(0.25), self.quantile(0.75)
        fence = _FENCE * (third - first) or math.inf
        low = max(self.quantile(_TAIL), self._next(first - fence, 1))
        high = min(self.quantile(1 - _TAIL), self._next(third + fence, -1))
        slack = _SLACK * (high - low)
        least, most = float(self.numbers[0]), float(self.numbers[-1])
        return least if least >= low - slack else low, most if most <= high + slack else high

    def _next(self, limit: float, step: int) -> float:
        """Return the first number inside a limit, from below or from above."""
        inside = self.numbers[self.numbers >= limit] if step > 0 else self.numbers[self.numbers <= limit]
        return float(inside[0] if step > 0 else inside[-1])


def ages(spread: NumberDistribution) -> dict[str, Any]:
    """Return intervals for ages in years; the oldest are top-coded if they are few."""
    low, high = spread.core
    start, end = 20 * math.floor(max(low, 0) / 20), 20 * math.ceil((min(high, _AGES[1]) + 1) / 20) - 1
    return _coded(spread, start, max(end, start + 19)) | {"widths": _AGE_WIDTHS}


def years(spread: NumberDistribution) -> dict[str, Any]:
    """Return intervals for calendar years; unlikely years are top- or bottom-coded."""
    likely = (spread.numbers >= _YEARS[0]) & (spread.numbers <= _YEARS[1])
    low, high = NumberDistribution(spread.numbers[likely], spread.rows[likely]).core
    width = max(int(nice((high - low) / _INTERVALS)), 2)
    widest = 4 * width
    start = widest * math.floor(low / widest)
    end = widest * math.ceil((high + 1) / widest) - 1
    return _coded(spread, start, end) | {"widths": [width, 2 * width, widest]}


def whole_numbers(spread: NumberDistribution, quantities: NumberDistribution | None = None) -> dict[str, Any]:
    """Return intervals for integers.

    Args:
        quantities: The numbers without codes for missing values, which are top- or bottom-coded; all by default.
    """
    low, high = (quantities or spread).core
    width = max(int(nice((high - low) / _INTERVALS)), 2)
    if _crowded(spread, low, high):
        return _by_quantiles(spread, low, high, whole=True)
    start = int(low) // width * width
    end = start + 4 * width * math.ceil((high - start + 1) / (4 * width)) - 1
    return _coded(spread, start, end) | {"widths": [width, 2 * width, 4 * width]}


def decimal_numbers(spread: NumberDistribution) -> dict[str, Any]:
    """Return intervals for measurements."""
    low, high = spread.core
    width = nice((high - low) / _INTERVALS)
    if _crowded(spread, low, high):
        return _by_quantiles(spread, low, high, whole=False) | {"numbers": "decimal"}
    start = tidy(math.floor(low / width) * width)
    end = tidy(start + 4 * width * math.ceil((high - start) / (4 * width) + 1e-9))
    widths = [tidy(width * factor) for factor in (1, 2, 4)]
    return _coded(spread, start, end) | {"widths": widths, "numbers": "decimal"}


def are_ages(spread: NumberDistribution) -> bool:
    """Return whether nearly all numbers could be ages."""
    return spread.share_within(*_AGES) >= 0.95


def are_years(spread: NumberDistribution, named: bool) -> bool:
    """Return whether nearly all numbers could be years; without a matching name, all of the last two centuries."""
    if named:
        return spread.share_within(*_YEARS) >= 0.9
    return spread.share_within(1900, 2050) >= 0.99 and len(spread.numbers) >= 3


def _coded(spread: NumberDistribution, start: float, end: float) -> dict[str, Any]:
    """Return the ends of a range, as coding limits if numbers exceed them."""
    low = "bottom" if spread.numbers[0] < start else "start"
    return {"type": "intervals", low: start, "top" if spread.numbers[-1] > end else "end": end}


def _crowded(spread: NumberDistribution, low: float, high: float) -> bool:
    inside = (spread.numbers >= low) & (spread.numbers <= high)
    # From zero on, because large numbers leave too few floating-point numbers for the bounds of bins.
    above, span = spread.numbers[inside] - low, (high - low) or 1
    bins, _ = np.histogram(above, _INTERVALS, (0, span), weights=spread.rows[inside])
    return len(spread.numbers) > _INTERVALS and bool(bins.max() > _CROWDED * spread.rows.sum())


def _by_quantiles(spread: NumberDistribution, low: float, high: float, *, whole: bool) -> dict[str, Any]:
    cuts = _cuts(spread, low, high, whole)
    start, end = cuts[0], cuts[-1]
    levels = [cuts[:-1:step] for step in (1, 2, 4) if len(cuts) > step + 1]
    return _coded(spread, start, end) | {"bounds": levels}


def _cuts(spread: NumberDistribution, low: float, high: float, whole: bool) -> list[float]:
    """Return the starts of intervals: at rounded quantiles; a very frequent number has an interval of its own."""
    quantiles = [spread.quantile(place / _QUANTILES) for place in range(1, _QUANTILES)]
    heavy = {number for number in quantiles if quantiles.count(number) > 1}
    marks = {_rounded(number) for number in quantiles if number not in heavy}
    for number in heavy:
        above = spread.numbers[spread.numbers > number]
        marks |= {number, number + 1 if whole else _rounded(float(above[0]))} if len(above) else {number}
    first, last = _floor(low, whole), -_floor(-high, whole)
    return [first, *sorted(mark for mark in marks if first < mark < last), last]


def _rounded(number: float) -> float:
    return float(f"{number:.2g}")


def _floor(number: float, whole: bool) -> float:
    """Return a round number not above another."""
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 1) if number else 1.0
    floor = tidy(math.floor(number / step) * step)
    return math.floor(floor) if whole else floor


def nice(width: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50, … that is not smaller.

    >>> nice(3.7), nice(0.06)
    (5.0, 0.1)
    """
    power = 10.0 ** math.floor(math.log10(width)) if width > 0 else 1.0
    return next(tidy(power * step) for step in (1, 2, 5, 10) if power * step >= width * (1 - 1e-9))


def tidy(number: float) -> float:
    """Return a number without rounding errors of binary fractions."""
    return float(f"{number:.12g}")
