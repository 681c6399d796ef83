"""The legacy three-stage method: intervals instead of small cells, and their audit for an attacker who knows it."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import AttackerView, Audit, Equation
from sfumato.tables.attack.inherent_disclosure import audit_promises
from sfumato.tables.cell_labels import SuppressionReason, Unit
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.cells.table_part import TablePart, ordered
from sfumato.values import Value, replace

# Constants of the legacy method: cells above this follow their total, and an interval of case B starts at least here.
FOLLOWING_ABOVE = 3
LEAST_OF_CASE_B = 1


class LegacyStages(Value):
    """A table with level columns, as the legacy method processes it.

    The legacy method has three stages. Primary: every finest cell within [low, high] gets that interval. Secondary,
    bottom up: if a suppressed part could be computed, a candidate among the other parts, or else the total, gets an
    interval too. Tertiary, top down: the parts of totals that the second stage suppressed follow. The result equals
    that of the original program including its defects. Its intervals can be narrowed or be inconsistent, which is why
    `protect` audits and repairs them.

    Attributes:
        values: The cells' values.
        level: 1 for the finest level, K for the highest, K + 1 for the grand total.
        parts: For each step i (from 1), each upper cell with its lower cells.
        codes: The codes that decide ties.
        units: Level and unit of each cell, for explanations.
    """

    values: Numbers
    level: Places
    parts: tuple[tuple[tuple[int, Places], ...], ...]
    codes: tuple[tuple[float, str], ...]
    units: tuple[Unit, ...]


class LegacyIntervals(Value):
    """The result of the legacy method: intervals, cases, and the unit that each reason names."""

    ranges: Bounds
    case: tuple[str, ...]
    about: tuple[Unit | None, ...]

    @property
    def masked(self) -> BoolArray:
        return np.asarray(~np.isnan(self.ranges.low))


def steps_of(part: TablePart) -> LegacyStages:
    """Return a table as the legacy method processes it.

    Raises:
        PlanError: The table has more than one dimension, or no level columns.
    """
    if len(part.trees) != 1 or not part.trees[0].levels:
        raise PlanError("intervals-dimensions")
    tree = part.trees[0]
    depth = np.array([tree.height(key[0]) for key in part.keys], np.int64)
    level = len(tree.levels) + 1 - depth
    units = tuple(_unit(tree.levels, int(place), key[0]) for place, key in zip(level, part.keys, strict=True))
    codes = tuple(ordered(unit.code) for unit in units)
    return LegacyStages(part.table.values, level, _parts(part, level, len(tree.levels)), codes, units)


def _unit(levels: Sequence[str], level: int, code: Sequence[str]) -> Unit:
    return Unit("", "") if level > len(levels) else Unit(levels[level - 1], code[len(levels) - level])


def _parts(part: TablePart, level: Places, count: int) -> tuple[tuple[tuple[int, Places], ...], ...]:
    steps: list[list[tuple[int, Places]]] = [[] for _ in range(count)]
    relations = part.table.constraints
    for relation in range(len(relations)):
        cells, _ = relations.row(relation)
        steps[level[cells[0]] - 2].append((int(cells[0]), cells[1:]))
    return tuple(tuple(step) for step in steps)


def mask(steps: LegacyStages, low: float, high: float, prefer: Literal["min", "max"]) -> LegacyIntervals:
    """Return the intervals and cases of the legacy method."""
    state = _State(steps, low, high, prefer)
    state.primary()
    for step in range(1, len(steps.parts) + 1):
        state.secondary(step)
    for step in range(len(steps.parts) - 1, 0, -1):
        state.tertiary(step)
    return LegacyIntervals(Bounds(state.low, state.high), tuple(state.case), tuple(state.about))


class _Mark(Value):
    """An interval to assign at the end of the step."""

    cell: int
    low: float
    high: float
    case: str
    about: int


class _State(Value, dict=True):
    """The intervals so far."""

    steps: LegacyStages
    least: float
    most: float
    prefer: Literal["min", "max"]

    @cached_property
    def low(self) -> Numbers:
        return np.full(len(self.steps.values), np.nan)

    @cached_property
    def high(self) -> Numbers:
        return np.full(len(self.steps.values), np.nan)

    @cached_property
    def case(self) -> list[str]:
        return [""] * len(self.steps.values)

    @cached_property
    def about(self) -> list[Unit | None]:
        return [None] * len(self.steps.values)

    def primary(self) -> None:
        values = self.steps.values
        for cell in np.flatnonzero((self.steps.level == 1) & (values >= self.least) & (values <= self.most)):
            self.low[cell], self.high[cell], self.case[cell] = self.least, self.most, SuppressionReason.PRIMARY

    def secondary(self, step: int) -> None:
        """Assign secondary intervals, bottom up; all units use the state before the step."""
        marks = [self._secondary(step, upper, lower) for upper, lower in self.steps.parts[step - 1]]
        self._mark([mark for mark in marks if mark is not None])

    def _secondary(self, step: int, upper: int, lower: Places) -> _Mark | None:
        masked = lower[~np.isnan(self.low[lower])]
        least, most = float(self.low[masked].sum()), float(self.high[masked].sum())
        alone = len(masked) == 1
        total = float(self.steps.values[masked].sum())
        if not len(masked) or not (alone or total in (least, most)):
            return None
        letter = "A" if alone else "B"
        candidate = self._candidate(lower)
        if candidate is None:
            bounds = (self.least, self.most) if alone else (least, most)
            return _Mark(upper, *bounds, f"{letter}{step}2", upper)
        others = lower[np.isnan(self.low[lower]) & (lower != candidate)]
        rest = float(self.steps.values[upper] - self.steps.values[others].sum())
        start = rest - most if alone else max(rest - most, LEAST_OF_CASE_B)
        return _Mark(candidate, start, rest - least, f"{letter}{step}1", candidate if alone else upper)

    def _candidate(self, lower: Places) -> int | None:
        """Return the preferred part above the interval; the preferred code decides ties. None if there is none."""
        eligible = [int(cell) for cell in lower if self.steps.values[cell] > self.most]
        choose = min if self.prefer == "min" else max
        return (
            choose(eligible, key=lambda cell: (self.steps.values[cell], self.steps.codes[cell])) if eligible else None
        )

    def tertiary(self, step: int) -> None:
        """Assign tertiary intervals, top down: to the preferred parts of totals that were suppressed as candidates."""
        marks = []
        for upper, lower in self.steps.parts[step - 1]:
            if self.case[upper][:1] == "C" or (self.case[upper][:1] in ("A", "B") and self.case[upper][-1] == "1"):
                marks += self._following(step, upper, lower)
        self._mark(marks)

    def _following(self, step: int, upper: int, lower: Places) -> list[_Mark]:
        values = self.steps.values
        large = lower[values[lower] > FOLLOWING_ABOVE]
        if not len(large):
            return []
        chosen = values[large].min() if self.prefer == "min" else values[large].max()
        below, above = values[upper] - self.low[upper], self.high[upper] - values[upper]
        return [
            _Mark(int(cell), float(values[cell] - below), float(values[cell] + above), f"C{step}", upper)
            for cell in large[values[large] == chosen]
        ]

    def _mark(self, marks: Sequence[_Mark]) -> None:
        for mark in marks:
            self.low[mark.cell], self.high[mark.cell] = mark.low, mark.high
            self.case[mark.cell], self.about[mark.cell] = mark.case, self.steps.units[mark.about]


_FOLLOWING = re.compile(r"^C\d+$")
_CANDIDATE = re.compile(r"^A(\d+)1$")
_ORIGINAL = re.compile(r"^([AB]\d+[12]|C\d+)$")


def attack(
    publication: AttackerView,
    part: TablePart,
    case: Sequence[str],
    promise: Bounds | None = None,
    evidence: AuditEvidence | None = None,
) -> tuple[Audit, TablePart]:
    """Audit a publication for an attacker who also knows the legacy method, if its cases are shown.

    Also returns the table with the protection levels that were lowered because of inherent disclosure.

    Args:
        publication: The published values and intervals.
        part: The table.
        case: The case of each cell.
        promise: The protection interval of each cell; by default that of the table.
        evidence: Supplied alternative tables, and the deadlines.
    """
    values = part.table.values
    if promise is None:
        plain, part = audit_promises(publication, part, evidence)
        promise = part.table.protection_interval
    else:
        plain = audit_publication(publication, promise, part.knowledge, values, evidence)
    original = np.array([bool(_ORIGINAL.match(text)) for text in case], bool)
    if not original.any() or not _tells_more(publication, promise, part, original):
        return plain, part
    read = equations(part, publication, case)
    if not read:
        return plain, part
    audit = audit_publication(replace(publication, equations=read), promise, part.knowledge, values)
    return replace(audit, inherently_disclosed=plain.inherently_disclosed), part


def _tells_more(publication: AttackerView, promise: Bounds, part: TablePart, original: BoolArray) -> bool:
    """Return whether a legacy interval is narrower than what the rest of the publication implies."""
    ranges = publication.ranges
    rest = replace(publication, ranges=ranges.only(~original))
    return any(
        original[finding.cell]
        and (ranges.low[finding.cell] > finding.lower + 1e-6 or ranges.high[finding.cell] < finding.upper - 1e-6)
        for finding in audit_publication(rest, promise, part.knowledge, part.table.values).findings
    )


def equations(part: TablePart, publication: AttackerView, case: Sequence[str]) -> tuple[Equation, ...]:
    """Return the equations between suppressed values that follow from the published interval ends.

    The intervals of two cases disclose a difference of suppressed values. An interval of case C is the interval of its
    total, moved by the difference of the two values. An interval of case A·1 is moved by the sum of the candidate and
    the one other suppressed cell. Intervals that equal the feasibility intervals of the audit disclose nothing and are
    kept.
    """
    relations = part.table.constraints
    read: list[Equation | None] = []
    for relation in range(len(relations)):
        cells, _ = relations.row(relation)
        upper, lower = int(cells[0]), [int(cell) for cell in cells[1:]]
        read += [_following(publication, upper, cell) for cell in lower if _FOLLOWING.match(case[cell])]
        read += [_beside(publication, lower, cell, case) for cell in lower if _CANDIDATE.match(case[cell])]
    return tuple(equation for equation in read if equation is not None)


def _following(publication: AttackerView, upper: int, cell: int) -> Equation | None:
    """Case C: the total minus its part equals the difference of their lower ends."""
    side = publication.ranges.low[upper] - publication.ranges.low[cell]
    return Equation((upper, cell), (1.0, -1.0), float(side)) if np.isfinite(side) else None


def _beside(publication: AttackerView, lower: Sequence[int], cell: int, case: Sequence[str]) -> Equation | None:
    """Case A·1: the candidate plus the one cell suppressed before it equals the sum of their opposite ends."""
    match = _CANDIDATE.match(case[cell])
    step = int(match.group(1)) if match else 0
    before = (SuppressionReason.PRIMARY,) if step == 1 else (f"A{step - 1}2", f"B{step - 1}2")
    masked = [other for other in lower if other != cell and case[other] in before]
    if len(masked) != 1:
        return None
    side = publication.ranges.high[cell] + publication.ranges.low[masked[0]]
    return Equation((cell, masked[0]), (1.0, 1.0), float(side)) if np.isfinite(side) else None
