"""Connected components of suppressed cells, and their linear programs."""

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Bounds, Places
from sfumato.tables.cells.precision import proved_bound
from sfumato.tables.programs import Extreme, Program

# Numbers of steps up to which programs are at their best; larger ones are scaled down.
COMFORT = 1e8
# So many steps the ends of programs may be off; those that are proved are not.
SLACK = 1e-6

End = float | Fraction


@dataclass(frozen=True, slots=True)
class Component:
    """Masked cells that hang together, the relations among them, and the program of what is possible.

    Attributes:
        cells: The cells.
        rows: The relations.
        matrix: Relations by cells.
        bounds: Between which deviations, in steps, anyone holds each cell possible.
        sides: Between which the relations hold.
        program: The program, in units of so many steps.
        unit: The number of steps.
    """

    cells: Places
    rows: Places
    matrix: Any
    bounds: Bounds
    sides: Bounds
    program: Program
    unit: float

    def feasible(self) -> bool:
        """Whether anything agrees with all of it; where no deviation does, nothing has to be solved."""
        ends = ((self.bounds.low, self.bounds.high), (self.sides.low, self.sides.high))
        still = all((low <= SLACK).all() and (high >= -SLACK).all() for low, high in ends)
        return still or self.program.feasible()

    def bind(self, place: int) -> None:
        """Let the program know the bounds of a cell."""
        self.program.bound(place, self.bounds.low[place] / self.unit, self.bounds.high[place] / self.unit)


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a cell, in deviations, with the programs that gave its ends."""

    low: End
    high: End
    least: Extreme
    most: Extreme

    def is_one_value(self, center: float, whole: bool) -> bool:
        """Whether only one value of the table's precision lies in it; ends that are not proved reach as far as may be.

        Args:
            center: The value, in steps, that deviations are reckoned from.
            whole: Whether all values of the table are whole steps.
        """
        if not np.isfinite(float(self.low)) or not np.isfinite(float(self.high)):
            return False
        slack = 0 if isinstance(self.low, Fraction) and isinstance(self.high, Fraction) else SLACK
        if not whole:
            return bool(self.high - self.low < 1 - slack)
        first, last = -((-self.low - center + slack) // 1), (self.high + center + slack) // 1
        return bool(last - first < 1)


def unit_of(bounds: Bounds, sides: Bounds) -> float:
    """How many steps the programs reckon by: one, unless numbers are large."""
    ends = np.concatenate([bounds.low, bounds.high, sides.low, sides.high])
    return float(max(1.0, np.abs(ends[np.isfinite(ends)]).max(initial=0.0) / COMFORT))


def divided(bounds: Bounds, unit: float) -> Bounds:
    """Bounds in units of so many steps."""
    return Bounds(bounds.low / unit, bounds.high / unit)


def with_own(bounds: Bounds, places: Places, own: Bounds) -> Bounds:
    """Bounds with other ones of some places."""
    low, high = bounds.low.copy(), bounds.high.copy()
    low[places], high[places] = own.low, own.high
    return Bounds(low, high)


def proved_end(component: Component, place: int, direction: float, extreme: Extreme) -> End:
    """The end of a range in exact arithmetic; the program's own where its multipliers do not prove it."""
    answer = extreme.value * component.unit
    if not np.isfinite(answer):
        return answer
    bound = proved_bound(component.matrix, component.sides, component.bounds, place, direction, extreme.relations)
    sure = bool(abs(float(bound) * direction - answer) <= 1e-2 * component.unit + 1e-9 * abs(answer))
    return Fraction(bound) * int(direction) if sure else answer
