"""A table whose numbers were changed: what is published, how far it is off, and what a reader computes from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.tables.build.ordering import by_codes
from sfumato.tables.cells.cells import Bounds, Mask, Numbers
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.words import NAMES, lower_end, number, upper_end


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The answer for one table.

    Attributes:
        part: The table.
        published: What is published of each cell.
        shown: Which cells are published.
        ranges: Between which values a reader knows each true value to lie.
        attained: For which cells the ends of the range are exact.
        figures: What the method says of itself.
    """

    part: Part
    published: Numbers
    shown: Mask
    ranges: Bounds
    attained: Mask
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def change(self) -> Numbers:
        """How far each published cell is off its true value."""
        return np.asarray((self.published - self.part.table.values)[self.shown])

    @property
    def off(self) -> Numbers:
        """How far published totals are off their published parts, relation by relation."""
        return np.abs(self.part.table.relations.residuals(self.published))

    @property
    def exact(self) -> Mask:
        """The cells whose true value a reader knows."""
        width = self.ranges.high - self.ranges.low
        return np.asarray(width < self.part.knowledge.step * (1 - 1e-6))

    @property
    def too_narrow(self) -> Mask:
        """The unsafe cells of which a reader knows more than the rules allow."""
        promise, slack = self.part.table.promise, 1e-6 * self.part.knowledge.step
        narrow = (self.ranges.low > promise.low + slack) | (self.ranges.high < promise.high - slack)
        return np.asarray(self.part.table.unsafe & (narrow | self.exact))


@dataclass(frozen=True)
class ChangedTable:
    """A table with its changed numbers and the evidence.

    Attributes:
        plan: The plan it was made by.
        source: The columns that came in.
        parts: The answer for each group.
        seconds: How long each stage took.
        like: The frame that came in, where one did.
    """

    plan: TablePlan
    source: Columns
    parts: tuple[Perturbed, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    like: Any = None

    @property
    def promised(self) -> bool:
        """Whether rules or a file call cells unsafe, so that something is promised."""
        return any(part.part.table.unsafe.any() for part in self.parts)

    @property
    def holds(self) -> bool:
        """Whether no reader knows more of an unsafe cell than the rules allow."""
        return not any(part.too_narrow.any() for part in self.parts)

    @cached_property
    def columns(self) -> Columns:
        """The input columns, true values included, and the new ones; for the house."""
        return Columns({**self.source.texts, **self.new_columns()})

    @cached_property
    def external(self) -> Columns:
        """The table to hand out: codes and what is published; the rows in the order of their codes."""
        name, texts = next(iter(self.new_columns().items()))
        shown = self._shown()
        rows = [row for row in by_codes([part.part for part in self.parts], self.source) if shown[row]]
        return Columns({**self._codes(), name: texts}).rows(np.array(rows, np.int64))

    def _shown(self) -> Mask:
        shown = np.ones(len(self.source), bool)
        for part in self.parts:
            shown[part.part.rows] = part.shown
        return shown

    def _codes(self) -> dict[str, tuple[str, ...]]:
        kept = [*self.plan.table.group_by]
        for dimension in self.plan.dimensions.values():
            kept += [*dimension.levels] or [dimension.column or ""]
        return {name: self.source.texts[name] for name in kept or ["id"]}

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """What is published of each row, and its range."""
        rows: list[tuple[str, ...]] = [("", "", "")] * len(self.source)
        for part in self.parts:
            for cell in np.flatnonzero(part.shown):
                ends = (lower_end(float(part.ranges.low[cell])), upper_end(float(part.ranges.high[cell])))
                rows[int(part.part.rows[cell])] = (number(float(part.published[cell])), *ends)
        prefix = self.plan.output.prefix or self.plan.table.value
        names = [prefix + ending for ending in NAMES[self.plan.output.columns][:3]]
        return dict(zip(names, zip(*rows, strict=True), strict=True))
