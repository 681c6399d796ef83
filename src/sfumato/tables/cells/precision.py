"""The precision of a table: the smallest difference between two values, and exact sums in whole units of it.

It decides everywhere whether two values are the same: an interval narrower than that discloses the value. Values are
whole numbers of units, so that sums and bounds are exact, whatever the size of the numbers.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Bounds, Numbers

# Further decimals are rounding errors of sums, not the precision of a table.
MOST_DECIMALS = 6
# The number of decimals if none fits.
FALLBACK_DECIMALS = 4
# Tolerance for a number of units to be an integer: floating-point errors, which grow with the number.
NOISE = 1e-3
SMALL_NOISE, NOISE_SHARE = 1e-8, 1e-12
# Multipliers of programs over sums are fractions with small denominators.
DENOMINATOR = 720
# Significant digits of a computed number; further ones are rounding errors.
DIGITS = 12
# Integers are exact in floating point up to this.
WHOLE = 2.0**52


def precision_of(values: Numbers) -> float:
    """Return the precision of a table: 1 for integers, otherwise one unit of the last decimal.

    >>> precision_of(np.array([3.0, 17.0])), precision_of(np.array([3.0, 17.25])), precision_of(np.array([np.nan, 4.0]))
    (1.0, 0.01, 1.0)
    """
    finite = values[np.isfinite(values)]
    slack = 1e-9 + 1e-13 * np.abs(finite)
    for decimals in range(MOST_DECIMALS + 1):
        if (np.abs(finite - np.round(finite, decimals)) <= slack).all():
            return float(10.0**-decimals)
    return float(10.0**-FALLBACK_DECIMALS)


@dataclass(frozen=True, slots=True)
class ValueUnit:
    """Conversion between values and units of a table's precision."""

    precision: float = 1.0

    def steps(self, values: Numbers) -> Numbers:
        """Return values in units, rounded to integers within the tolerance.

        A value with more decimals than the precision is not moved to a nearby integer; moved, it would violate the
        constraints that contain it.

        >>> ValueUnit(0.01).steps(np.array([90000813.03, 0.005, 0.0200001, np.inf])).tolist()
        [9000081303.0, 0.5, 2.00001, inf]
        """
        # 0.1 has no exact binary form: dividing by it is less exact than multiplying by 10.
        numbers = values * round(1 / self.precision) if self.precision < 1 else values / self.precision
        whole = np.round(numbers)
        with np.errstate(invalid="ignore"):
            near = np.abs(numbers - whole) <= np.minimum(SMALL_NOISE + NOISE_SHARE * np.abs(numbers), NOISE)
        return np.where(near, whole, numbers)

    def value(self, steps: float) -> float:
        """Return a number of units as a value."""
        return float(steps / round(1 / self.precision) if self.precision < 1 else steps * self.precision)

    def clean(self, values: Sequence[float]) -> list[float]:
        """Return values without floating-point errors.

        >>> ValueUnit(0.1).clean([0.1 + 0.2])
        [0.3]
        """
        return [self.value(float(steps)) for steps in self.steps(np.array(values, np.float64))]

    def bounds(self, bounds: Bounds) -> Bounds:
        """Return bounds in units."""
        return Bounds(self.steps(bounds.low), self.steps(bounds.high))


def tidied(values: Numbers) -> Numbers:
    """Return computed numbers, which have no precision of their own, without floating-point errors.

    >>> tidied(np.array([0.1 + 0.2, 310.0])).tolist()
    [0.3, 310.0]
    """
    return np.array([float(f"{value:.{DIGITS}g}") for value in values], np.float64)


def proved_bound(matrix: Any, sides: Bounds, bounds: Bounds, place: int, direction: float, multipliers: Numbers) -> Any:
    """Return the bound that multipliers of constraints prove in exact arithmetic: the minimum of direction ·
    y.

    The result is a valid bound for any multipliers, and the optimum for optimal ones; minus infinity if they prove
    nothing.
    """
    whole = np.round(multipliers)
    if (np.abs(multipliers - whole) < 1e-7).all():
        return _whole_bound(matrix, sides, bounds, place, direction, whole)
    rows = {
        int(row): Fraction(float(multipliers[row])).limit_denominator(DENOMINATOR)
        for row in np.flatnonzero(multipliers)
    }
    rest: dict[int, Fraction] = {place: Fraction(direction)}
    total = Fraction(0)
    for row, factor in rows.items():
        side = sides.low[row] if factor > 0 else sides.high[row]
        if not np.isfinite(side):
            return -np.inf
        total += factor * Fraction(float(side))
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        for cell, coef in zip(matrix.indices[span].tolist(), matrix.data[span].tolist(), strict=True):
            rest[cell] = rest.get(cell, Fraction(0)) - factor * Fraction(coef)
    for cell, cost in rest.items():
        end = bounds.low[cell] if cost > 0 else bounds.high[cell]
        if cost and not np.isfinite(end):
            return -np.inf
        total += cost * Fraction(float(end)) if cost else 0
    return total


def _whole_bound(
    matrix: Any, sides: Bounds, bounds: Bounds, place: int, direction: float, multipliers: Numbers
) -> float | Fraction:
    """Return the same bound for integer multipliers: integer products and sums are exact in floating point."""
    rest = -(matrix.T @ multipliers)
    rest[place] += direction
    side = np.where(multipliers > 0, sides.low, sides.high)[multipliers != 0] * multipliers[multipliers != 0]
    end = np.where(rest > 0, bounds.low, bounds.high)[rest != 0] * rest[rest != 0]
    terms = np.concatenate([side, end])
    if not np.isfinite(terms).all():
        return -np.inf
    if np.abs(terms).sum() < WHOLE and (terms == np.round(terms)).all():
        return float(terms.sum())
    return sum((Fraction(float(term)) for term in terms), Fraction(0))
