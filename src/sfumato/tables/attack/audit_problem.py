"""A table as the audit solves it: in units of its precision, as deviations from the true values if these are known.

Components of suppressed cells become linear programs, and their optima become feasibility intervals and verdicts; an
optimum near a limit is proved again in exact arithmetic.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.tables.attack.audit_evidence import AuditEvidence, certified, inside_of
from sfumato.tables.attack.findings import AttackerView, DisclosureStatus, Finding
from sfumato.tables.cells.constraints import NOISE, ValueUnit, proved_bound
from sfumato.tables.cells.system import AttackerKnowledge, BoolArray, Bounds, Insider, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import Extreme, LinearProgram
from sfumato.values import Value

# Programs work best with numbers up to this many units; larger ones are scaled down.
COMFORT = 1e8
# Tolerance of the optima of programs, in units; proved optima have none.
SLACK = 1e-6

End = float | Fraction


class Component(Value):
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


class FeasibilityInterval(Value):
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


# An optimum within this many units of a limit is proved again in exact arithmetic.
NEAR = 3.0


class AttackedTable(Value, dict=True):
    """The published table and the attacker's knowledge, in the form that the linear programs need.

    Attributes:
        publication: The published values and intervals.
        protection_interval: The protection interval of each cell; NaN if the cell has none.
        knowledge: Rounding, integrality and the insiders.
        values: The true values, or None if they are not known.
        evidence: Alternative tables supplied by the caller.
    """

    publication: AttackerView
    protection_interval: Bounds
    knowledge: AttackerKnowledge
    values: Numbers | None
    evidence: AuditEvidence

    @cached_property
    def scale(self) -> ValueUnit:
        """Conversion to units of the table's precision."""
        return ValueUnit(self.knowledge.precision)

    @cached_property
    def matrix(self) -> Any:
        """Constraints and equations (rows) by cells (columns)."""
        return self.publication.matrix()

    @cached_property
    def masked(self) -> BoolArray:
        """Which cells are suppressed."""
        return np.isnan(self.publication.exact)

    @cached_property
    def center(self) -> Numbers:
        """The origin of the deviations, in units."""
        shown = self.publication.exact
        start = np.zeros(len(shown)) if self.values is None else self.values
        return self.scale.steps(np.where(self.masked, start, shown))

    @cached_property
    def sides(self) -> Numbers:
        """The right-hand sides of the constraints at that origin."""
        sides: Numbers = self.scale.steps(self.publication.sides()) - self.matrix @ self.center
        return sides

    @cached_property
    def whole(self) -> bool:
        """Whether all published cells are whole units."""
        shown_cells = self.center if self.publication.hidden is None else self.center[~self.publication.hidden]
        return bool((shown_cells == np.round(shown_cells)).all())

    @cached_property
    def certain(self) -> BoolArray:
        """The cells that alternative tables prove to be safe from every attacker."""
        agree = np.abs(self.sides).max(initial=0.0) <= max(self.knowledge.rounding / self.knowledge.precision, NOISE)
        if not self.evidence.witnesses or self.values is None or self.knowledge.integer or not agree:
            return np.zeros(len(self.masked), bool)
        known = self.scale.bounds(self.publication.bounds.within(self.publication.ranges))
        bounds = Bounds(known.low - self.center, known.high - self.center)
        low, high = (
            self.protection_interval.low / self.scale.precision,
            self.protection_interval.high / self.scale.precision,
        )
        needs = Bounds(self.center - low, high - self.center)
        attackers = self.knowledge.attackers
        inside = inside_of(
            [attacker.cells for attacker in attackers],
            [self.known_to(attacker, np.ones(len(attacker.cells), bool)) for attacker in attackers],
            [
                (attacker.reach.lower / self.scale.precision, attacker.reach.upper / self.scale.precision)
                for attacker in attackers
            ],
            len(self.masked),
        )
        return certified(self.evidence.witnesses, self.matrix, self.masked, bounds, needs, inside, self.scale)

    def known_to(self, attacker: Insider, here: BoolArray) -> Bounds:
        """Return the bounds, as deviations in units, that an attacker knows for some of their cells."""
        known, cells = self.scale.bounds(attacker.bounds.rows(here)), attacker.cells[here]
        return Bounds(known.low - self.center[cells], known.high - self.center[cells])

    @cached_property
    def rounding(self) -> float:
        """How far published totals differ from their published parts, up to the allowed rounding."""
        allowed = self.knowledge.rounding / self.knowledge.precision
        if allowed <= 0:
            return 0.0
        visible = abs(self.matrix) @ self.masked.astype(np.float64) == 0
        return float(min(allowed, np.abs(self.sides[visible]).max(initial=0.0)))

    def component(self, cells: Places, rows: Places, trusted: BoolArray | None) -> Component:
        """Build the component of some suppressed cells; only trusted published intervals are used (all for None)."""
        ranges = self.publication.ranges if trusted is None else self.publication.ranges.only(trusted)
        known = self.scale.bounds(self.publication.bounds.within(ranges).rows(cells))
        bounds = Bounds(known.low - self.center[cells], known.high - self.center[cells])
        sides = Bounds(self.sides[rows] - self.rounding, self.sides[rows] + self.rounding)
        if self.values is not None:
            # A rounded total keeps its actual difference, so that the true values always remain feasible.
            own = np.where(
                np.abs(self.sides[rows]) <= self.knowledge.rounding / self.knowledge.precision, 0.0, self.sides[rows]
            )
            sides = Bounds(np.minimum(sides.low, own), np.maximum(sides.high, own))
        matrix = self.matrix[rows][:, cells]
        unit = 1.0 if self.knowledge.integer else unit_of(bounds, sides)
        program = LinearProgram(matrix, divided(bounds, unit), divided(sides, unit), self.knowledge.integer)
        return Component(cells, rows, matrix, bounds, sides, program, unit)

    def range_of(self, component: Component, place: int, promise: Bounds) -> FeasibilityInterval:
        """Return the feasibility interval of a cell, in exact arithmetic near a limit."""
        range_ = self.range_within(component, place, promise, FOREVER)
        assert range_ is not None
        return range_

    def range_within(
        self, component: Component, place: int, promise: Bounds, end: Deadline
    ) -> FeasibilityInterval | None:
        """Return the feasibility interval of a cell, in exact arithmetic near a limit; None if the time is over."""
        program, unit, cell = component.program, component.unit, component.cells[place]
        least, most = (program.extreme_within(place, direction, end.left) for direction in (1.0, -1.0))
        if least is None or most is None:
            return None
        low: End = least.value * unit
        high: End = most.value * unit
        borders = self.scale.bounds(promise.rows(np.array([cell])))
        near = (
            high - low < NEAR
            or abs(low + self.center[cell] - borders.low[0]) < NEAR
            or abs(high + self.center[cell] - borders.high[0]) < NEAR
        )
        if near and not self.knowledge.integer:
            low, high = proved_end(component, place, 1.0, least), proved_end(component, place, -1.0, most)
        return FeasibilityInterval(low, high, least, most)

    def finding(self, component: Component, place: int, range_: FeasibilityInterval, promise: Bounds) -> Finding:
        """Return the finding for a cell: its interval compared with its protection interval."""
        cell = int(component.cells[place])
        verdict = self._verdict(cell, range_, promise)
        proofs = () if verdict is DisclosureStatus.SAFE else (range_.least, range_.most)
        lower, upper = (self.scale.value(float(self.center[cell]) + float(end)) for end in (range_.low, range_.high))
        used = self._certificate(cell, component, proofs)
        return Finding(cell, self.publication.names[cell], lower, upper, verdict, used)

    def _verdict(self, cell: int, range_: FeasibilityInterval, promise: Bounds) -> DisclosureStatus:
        """Classify an interval: one that contains a single value of the table's precision is exact disclosure.

        A cell without protection interval that is known to be safe is disclosed only by an interval of width zero.
        """
        low, high = promise.low[cell] / self.scale.precision, promise.high[cell] / self.scale.precision
        if np.isnan(low):
            least = 1.0 if self.values is None else NOISE
            return (
                DisclosureStatus.EXACT
                if float(range_.high) - float(range_.low) < least - 1e-6
                else DisclosureStatus.SAFE
            )
        if range_.is_one_value(float(self.center[cell]), self.whole):
            return DisclosureStatus.EXACT
        slack = NOISE + 1e-12 * abs(self.center[cell])
        lower, upper = float(range_.low) + self.center[cell], float(range_.high) + self.center[cell]
        return DisclosureStatus.TOO_NARROW if lower > low + slack or upper < high - slack else DisclosureStatus.SAFE

    def _certificate(self, cell: int, component: Component, proofs: Sequence[Extreme]) -> tuple[str, ...]:
        """Return the names of the published and suppressed cells in the combination that bounds a cell."""
        named = np.zeros(len(self.masked), bool)
        for proof in proofs:
            named |= (np.abs(self.matrix[component.rows].T @ proof.relations) > 1e-9) & ~self.masked
            named[component.cells[np.abs(proof.bounds) > 1e-9]] = True
        named[cell] = False
        if self.publication.hidden is not None:
            named &= ~self.publication.hidden
        return tuple(self.publication.names[other] for other in np.flatnonzero(named))
