"""A perturbed table: published values, errors, and what a reader can compute."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import ViolationError
from sfumato.tables.cell_labels import cells_named, lower_end, number, upper_end
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.table_result import TableAnswer


@dataclass(frozen=True, slots=True)
class PerturbedCells:
    """The result for one table.

    Attributes:
        published: The published value of each cell.
        shown: Which cells are published.
        ranges: The feasibility interval of each true value.
        attained: Which intervals have exact ends.
        figures: Metrics of the method.
    """

    part: TablePart
    published: Numbers
    shown: BoolArray
    ranges: Bounds
    attained: BoolArray
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def change(self) -> Numbers:
        """The error of each published cell."""
        return np.asarray((self.published - self.part.table.values)[self.shown])

    @property
    def off(self) -> Numbers:
        """The absolute residual of each constraint in published values."""
        return np.abs(self.part.table.constraints.residuals(self.published))

    @property
    def exact(self) -> BoolArray:
        """The cells whose true value can be computed."""
        width = self.ranges.high - self.ranges.low
        return np.asarray(width < self.part.knowledge.precision * (1 - 1e-6))

    @property
    def too_narrow(self) -> BoolArray:
        """The sensitive cells whose feasibility interval is too narrow or exact."""
        promise, slack = self.part.table.protection_interval, 1e-6 * self.part.knowledge.precision
        narrow = (self.ranges.low > promise.low + slack) | (self.ranges.high < promise.high - slack)
        return np.asarray(self.part.table.sensitive & (narrow | self.exact))


def check_readers(parts: Sequence[PerturbedCells]) -> None:
    """Refuse tables that disclose sensitive cells."""
    leaks = [name for part in parts for name in _too_narrow_names(part)]
    if leaks:
        raise ViolationError("audit.a_reader_computes_unsafe", count=len(leaks), named=cells_named(leaks))


def _too_narrow_names(part: PerturbedCells) -> list[str]:
    """Return the names of sensitive cells with too narrow intervals, with their group."""
    names = part.part.table.names
    return [", ".join([*part.part.group, names[cell]]) for cell in np.flatnonzero(part.too_narrow)]


@dataclass(frozen=True)
class PerturbedResult(TableAnswer[PerturbedCells]):
    """A perturbed table with the evidence."""

    @property
    def promised(self) -> bool:
        """Whether rules or a file classify cells as sensitive, so that there is a guarantee."""
        return any(part.part.table.sensitive.any() for part in self.parts)

    @property
    def passed(self) -> bool:
        """Whether no sensitive cell is disclosed."""
        return not any(part.too_narrow.any() for part in self.parts)

    @cached_property
    def external(self) -> TextColumns:
        """The table for publication: codes and published values."""
        name = self.names(1)[0]
        table = self.in_order(TextColumns({**self.codes(), name: self.new_columns()[name]}))
        return table.rows(np.flatnonzero([text != "" for text in table.text(name)]))

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the published value of each row and its interval; empty if a row is not published."""
        rows: list[tuple[str, ...]] = [("", "", "")] * len(self.source)
        for part in self.parts:
            for cell in np.flatnonzero(part.shown):
                ends = (lower_end(float(part.ranges.low[cell])), upper_end(float(part.ranges.high[cell])))
                rows[int(part.part.rows[cell])] = (number(float(part.published[cell])), *ends)
        return dict(zip(self.names(3), zip(*rows, strict=True), strict=True))
