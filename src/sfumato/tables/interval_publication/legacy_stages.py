"""The legacy three-stage method: small cells get a range, and so do the cells from which they could be computed.

Primary: every finest cell within [low, high] gets that range. Secondary, bottom up: if one suppressed part could be
computed, a candidate among the other parts, or else the total, gets a range too. Tertiary, top down: the parts of
totals suppressed that way follow. The result is that of the original program, with its faults: it can be narrowed and
even be inconsistent, which is why `protect` audits and repairs it.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.tables.cell_labels import SuppressionReason, Unit
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.row_order import ordered

# The original's own constants: cells above this follow their total, and a range of case B starts at least here.
FOLLOWING_ABOVE = 3
LEAST_OF_CASE_B = 1


@dataclass(frozen=True, slots=True)
class LegacyStages:
    """A table with level columns as the original sees it.

    Attributes:
        values: The cells' values.
        level: 1 for the finest level, K for the highest, K + 1 for the grand total.
        parts: For each step i (from 1), each upper cell with its lower cells.
        codes: What a tie is decided by.
        units: Level and unit of each cell, for the reasons.
    """

    values: Numbers
    level: Places
    parts: tuple[tuple[tuple[int, Places], ...], ...]
    codes: tuple[tuple[float, str], ...]
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class LegacyIntervals:
    """What the original publishes: ranges, cases, and the unit that each reason names."""

    ranges: Bounds
    case: tuple[str, ...]
    about: tuple[Unit | None, ...]

    @property
    def masked(self) -> BoolArray:
        return np.asarray(~np.isnan(self.ranges.low))


def steps_of(part: TablePart) -> LegacyStages:
    """The steps of a table.

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
    """The original's answer."""
    state = _State(steps, low, high, prefer)
    state.primary()
    for step in range(1, len(steps.parts) + 1):
        state.secondary(step)
    for step in range(len(steps.parts) - 1, 0, -1):
        state.tertiary(step)
    return LegacyIntervals(Bounds(state.low, state.high), tuple(state.case), tuple(state.about))


@dataclass(frozen=True, slots=True)
class _Mark:
    """A range to be given once the step is over."""

    cell: int
    low: float
    high: float
    case: str
    about: int


@dataclass
class _State:
    """Ranges so far."""

    steps: LegacyStages
    least: float
    most: float
    prefer: Literal["min", "max"]
    low: Numbers = field(init=False)
    high: Numbers = field(init=False)
    case: list[str] = field(init=False)
    about: list[Unit | None] = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.steps.values)
        self.low, self.high = np.full(size, np.nan), np.full(size, np.nan)
        self.case, self.about = [""] * size, [None] * size

    def primary(self) -> None:
        values = self.steps.values
        for cell in np.flatnonzero((self.steps.level == 1) & (values >= self.least) & (values <= self.most)):
            self.low[cell], self.high[cell], self.case[cell] = self.least, self.most, SuppressionReason.PRIMARY

    def secondary(self, step: int) -> None:
        """Bottom up; all units are computed on the state before the step."""
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
        """Of the parts above the range, the preferred one; a tie goes to the preferred code."""
        eligible = [int(cell) for cell in lower if self.steps.values[cell] > self.most]
        choose = min if self.prefer == "min" else max
        return (
            choose(eligible, key=lambda cell: (self.steps.values[cell], self.steps.codes[cell])) if eligible else None
        )

    def tertiary(self, step: int) -> None:
        """Top down: the preferred parts of totals that were masked as candidates."""
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
