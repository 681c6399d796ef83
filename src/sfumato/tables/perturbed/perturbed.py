"""A perturbed table: published values, errors, and what a reader can compute."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PromiseError
from sfumato.tables.cells.cells import Bounds, Mask, Numbers
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part
from sfumato.tables.table_answer import TableAnswer
from sfumato.tables.words import cells_named, lower_end, number, upper_end
from sfumato.texts.counted import filled


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


def check_readers(parts: Sequence[Perturbed]) -> None:
    """Refuse tables of which a reader knows too much.

    Raises:
        PromiseError: He computes unsafe cells more closely than the rules allow.
    """
    leaks = [name for part in parts for name in _too_narrow_names(part)]
    if leaks:
        raise PromiseError(
            filled(
                "a reader computes {count} unsafe {count:cell|cells} more closely than the rules allow: {named}.",
                {"count": len(leaks), "named": cells_named(leaks)},
            ),
            "Take a larger base or more noise, or mask cells instead: method optimal.",
            "audit",
        )


def _too_narrow_names(part: Perturbed) -> list[str]:
    """The unsafe cells of which a reader knows more than the rules allow, by their codes, in their group."""
    names = part.part.table.names
    return [", ".join([*part.part.group, names[cell]]) for cell in np.flatnonzero(part.too_narrow)]


@dataclass(frozen=True)
class ChangedTable(TableAnswer[Perturbed]):
    """A table with its changed numbers and the evidence."""

    @property
    def promised(self) -> bool:
        """Whether rules or a file call cells unsafe, so that something is promised."""
        return any(part.part.table.unsafe.any() for part in self.parts)

    @property
    def holds(self) -> bool:
        """Whether no reader knows more of an unsafe cell than the rules allow."""
        return not any(part.too_narrow.any() for part in self.parts)

    @cached_property
    def external(self) -> Columns:
        """The table to hand out: codes and what is published."""
        name = self.names(1)[0]
        table = self.in_order(Columns({**self.codes(), name: self.new_columns()[name]}))
        return table.rows(np.flatnonzero([text != "" for text in table.text(name)]))

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """What is published of each row, and its range; nothing where a row is not published."""
        rows: list[tuple[str, ...]] = [("", "", "")] * len(self.source)
        for part in self.parts:
            for cell in np.flatnonzero(part.shown):
                ends = (lower_end(float(part.ranges.low[cell])), upper_end(float(part.ranges.high[cell])))
                rows[int(part.part.rows[cell])] = (number(float(part.published[cell])), *ends)
        return dict(zip(self.names(3), zip(*rows, strict=True), strict=True))
