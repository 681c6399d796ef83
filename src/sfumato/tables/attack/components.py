"""Connected components of suppressed cells, and their linear programs."""

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.constraints import proved_bound
from sfumato.tables.cells.system import Bounds, Places
from sfumato.tables.linear_programs import Extreme, LinearProgram

# Programs work best with numbers up to this many units; larger ones are scaled down.
COMFORT = 1e8
# Tolerance of the optima of programs, in units; proved optima have none.
SLACK = 1e-6

End = float | Fraction


@dataclass(frozen=True, slots=True)
class Component:
    """Connected suppressed cells, the constraints among them, and the linear program of feasible values.

    Attributes:
        cells: The suppressed cells.
        matrix: Constraints (rows) by cells (columns).
        bounds: Bounds of the deviation of each cell, in units.
        sides: Bounds of the constraints' right-hand sides.
        program: The linear program, scaled by `unit`.
        unit: How many units of precision one unit of the program is.
    """

    cells: Places
    rows: Places
    matrix: Any
    bounds: Bounds
    sides: Bounds
    program: LinearProgram
    unit: float

    def feasible(self) -> bool:
        """Return whether any deviation is feasible; if zero deviation is, nothing is solved."""
        ends = ((self.bounds.low, self.bounds.high), (self.sides.low, self.sides.high))
        still = all((low <= SLACK).all() and (high >= -SLACK).all() for low, high in ends)
        return still or self.program.feasible()

    def bind(self, place: int) -> None:
        """Restore the bounds of a cell in the program."""
        self.program.bound(place, self.bounds.low[place] / self.unit, self.bounds.high[place] / self.unit)


@dataclass(frozen=True, slots=True)
class FeasibilityInterval:
    """The feasibility interval of a cell, in deviations, with the optima of its ends."""

    low: End
    high: End
    least: Extreme
    most: Extreme

    def is_one_value(self, center: float, whole: bool) -> bool:
        """Return whether the interval contains one value of the table's precision; unproved ends get a tolerance.

        Args:
            center: The value, in units, from which deviations are measured.
            whole: Whether all values of the table are whole units.
        """
        if not np.isfinite(float(self.low)) or not np.isfinite(float(self.high)):
            return False
        slack = 0 if isinstance(self.low, Fraction) and isinstance(self.high, Fraction) else SLACK
        if not whole:
            return bool(self.high - self.low < 1 - slack)
        first, last = -((-self.low - center + slack) // 1), (self.high + center + slack) // 1
        return bool(last - first < 1)


def unit_of(bounds: Bounds, sides: Bounds) -> float:
    """Return how many units of precision one unit of the program is: 1 unless numbers are large."""
    ends = np.concatenate([bounds.low, bounds.high, sides.low, sides.high])
    return float(max(1.0, np.abs(ends[np.isfinite(ends)]).max(initial=0.0) / COMFORT))


def divided(bounds: Bounds, unit: float) -> Bounds:
    """Return bounds divided by a unit."""
    return Bounds(bounds.low / unit, bounds.high / unit)


def with_own(bounds: Bounds, places: Places, own: Bounds) -> Bounds:
    """Return bounds with some positions replaced."""
    low, high = bounds.low.copy(), bounds.high.copy()
    low[places], high[places] = own.low, own.high
    return Bounds(low, high)


def proved_end(component: Component, place: int, direction: float, extreme: Extreme) -> End:
    """Return the end of an interval in exact arithmetic, or the program's value if its multipliers do not prove it."""
    answer = extreme.value * component.unit
    if not np.isfinite(answer):
        return answer
    bound = proved_bound(component.matrix, component.sides, component.bounds, place, direction, extreme.relations)
    sure = bool(abs(float(bound) * direction - answer) <= 1e-2 * component.unit + 1e-9 * abs(answer))
    return Fraction(bound) * int(direction) if sure else answer
