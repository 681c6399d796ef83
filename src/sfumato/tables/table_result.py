"""Results for a table: published and internal columns of each group, and comparisons of methods."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.attack.findings import Audit, Finding, joined
from sfumato.tables.cell_labels import MASK, NAMES, PRIMARY_DASH, SuppressionReason, lower_end, span, upper_end
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import Bounds
from sfumato.tables.cells.table_part import TablePart, by_codes
from sfumato.tables.linear_programs import LinearProgram
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.values import AbstractValue, Value, asdict, field


class GroupAnswer(Protocol):
    """The result for one group of a table, with at least its cells."""

    @property
    def part(self) -> TablePart: ...


Group_co = TypeVar("Group_co", bound=GroupAnswer, covariant=True)


class TableAnswer(AbstractValue, Generic[Group_co], dict=True):
    """A table with its published columns and the result of its audit.

    Attributes:
        plan: The plan of the table.
        source: The input columns.
        parts: The result for each group.
        seconds: The duration of each stage in seconds.
        like: The input frame; None if the input was no frame.
    """

    plan: TablePlan
    source: TextColumns
    parts: tuple[Group_co, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    like: Any = None

    @property
    @abstractmethod
    def passed(self) -> bool:
        """Whether every sensitive cell is protected."""

    @property
    def attacked(self) -> bool:
        """Whether the audit covers everything that can be computed from the tables jointly."""
        return not any(answer.part.not_audited for answer in self.parts)

    @property
    @abstractmethod
    def external(self) -> TextColumns:
        """The table for publication."""

    @abstractmethod
    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the new columns by name: the published texts of each row."""

    @cached_property
    def columns(self) -> TextColumns:
        """The input columns with true values, and the new columns; for internal use only."""
        return TextColumns({**self.source.texts, **self.new_columns()})

    def codes(self) -> dict[str, tuple[str, ...]]:
        """Return the columns that identify the cell of each row."""
        names = [*self.plan.table.group_by]
        for dimension in self.plan.dimensions.values():
            names += [*dimension.levels] or [dimension.column or ""]
        return {name: self.source.texts[name] for name in names or ["id"]}

    def names(self, count: int | None = None) -> list[str]:
        """Return the names of the new columns, or of the first `count`."""
        prefix = self.plan.output.prefix or self.plan.table.value
        return [prefix + ending for ending in NAMES[self.plan.output.columns][:count]]

    def in_order(self, columns: TextColumns) -> TextColumns:
        """Return columns with rows sorted by code, because the input order may disclose the order of the values."""
        rows = by_codes([answer.part for answer in self.parts], self.source)
        return columns.rows(np.array(rows, np.int64))


class SuppressedTable(TableAnswer[SuppressedCells], dict=True):
    """A table with its suppressed cells and their audit."""

    @property
    def passed(self) -> bool:
        """Whether the audit of every group passed."""
        return self.audit.passed

    @cached_property
    def audit(self) -> Audit:
        """The audits of all groups."""
        return joined(part.audit for part in self.parts)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The suppressed cells whose interval is below the protection level."""
        return self.audit.leaks

    @cached_property
    def public(self) -> TextColumns:
        """What is published, with cases and reasons, without true values and their inputs.

        The cases show which suppressed cells are sensitive: this is internal, `external` is for publication.
        """
        return TextColumns({**self.codes(), **self.new_columns()})

    @cached_property
    def external(self) -> TextColumns:
        """The table for publication: codes, published values and intervals, without distinction between suppressed
        cells.
        """
        names, new = self.names(3), self.new_columns()
        shown = {name: new[name] for name in names}
        shown[names[0]] = tuple(text.replace(PRIMARY_DASH, "-") for text in shown[names[0]])
        return self.in_order(TextColumns({**self.codes(), **shown}))

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the published text of each row, its interval, case and reason."""
        rows: list[tuple[str, ...]] = [()] * len(self.source)
        values = self.source.text(self.plan.table.value)
        for part in self.parts:
            for cell, entry in enumerate(_entries(part)):
                row = int(part.part.rows[cell])
                rows[row] = entry or (values[row], "", "", "", "")
        return dict(zip(self.names(), zip(*rows, strict=True), strict=True))


def _entries(part: SuppressedCells) -> list[tuple[str, ...] | None]:
    """Return for each cell what is published; None if its value is."""
    entries: list[tuple[str, ...] | None] = [None] * len(part.suppressed)
    for cell in np.flatnonzero(part.suppressed):
        low, high = float(part.ends.low[cell]), float(part.ends.high[cell])
        dash = PRIMARY_DASH if part.case[cell] == SuppressionReason.PRIMARY else "-"
        ranged = not (np.isnan(low) or np.isnan(high))
        text = span(low, high, dash) if part.texts and ranged else MASK
        ends = (lower_end(low), upper_end(high)) if ranged else ("", "")
        # Converted to a plain string, because frames infer an enum column from a first enum member.
        entries[cell] = (text, *ends, str(part.case[cell]), part.reason[cell])
    return entries


class TableRun(Value):
    """One method to protect a table, and its result.

    Attributes:
        method: Its name, with what distinguishes its variants.
        masked: Number of suppressed cells.
        value_lost: Sum of the absolute suppressed values, as a proportion of that of all values.
        changed: Number of cells whose published number differs from the true value.
        mean_change: Mean absolute difference between published and true numbers.
        largest_change: Largest absolute difference between published and true numbers.
        broken: Number of published totals that differ from the sum of their published parts.
        unsafe_exact: Number of sensitive cells whose true value an attacker computes.
        unsafe_too_narrow: Number of sensitive cells whose feasibility interval is too narrow.
        median_width: Median width of the feasibility intervals of sensitive cells, as a proportion of the value.
        attackers: The audited attackers.
        seconds: Duration in seconds.
        error: The reason why there is no result; empty if there is one.
    """

    method: str
    masked: int = 0
    value_lost: float = 0.0
    changed: int = 0
    mean_change: float = 0.0
    largest_change: float = 0.0
    broken: int = 0
    unsafe_exact: int = 0
    unsafe_too_narrow: int = 0
    median_width: float | None = None
    attackers: tuple[str, ...] = ()
    seconds: float = 0.0
    error: Message | None = None

    @property
    def passed(self) -> bool:
        """Whether there is a result and no sensitive cell is disclosed."""
        return not self.error and not self.unsafe_too_narrow

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "attackers": list(self.attackers), "satisfied": self.passed}


class TableRuns(Value):
    """A comparison of methods.

    Attributes:
        cells: Number of cells of the table.
        unsafe: Number of sensitive cells.
        runs: The methods that were tried.
        redesign: Proposals of coarser tables, in words.
        language: The language of its page.
    """

    cells: int
    unsafe: int
    runs: tuple[TableRun, ...]
    redesign: tuple[Message, ...] = ()
    language: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in compare.json."""
        return {
            "cells": self.cells,
            "unsafe": self.unsafe,
            "runs": [run.to_dict() for run in self.runs],
            "redesign": list(self.redesign),
        }


# Relative tolerance between two precisions.
SLACK = 1e-9


def check_kind(plan: TablePlan, masked: SuppressedCells) -> None:
    """Refuse a table whose suppressed cells differ in sign or decimals from the published ones, unless the plan
    declares it.

    Attackers assume the minimum of the plan. Without one they assume 0, unless a published number is negative or no
    table without negative cells is consistent. They assume the decimals of the published cells. Intervals computed from
    the suppressed cells would disclose their sign or decimals; intervals without them could exclude the true value.

    Raises:
        DataError: A suppressed cell is negative or has decimals, unlike all published ones.
    """
    if masked.without_audit:
        return
    values, mask = masked.part.table.values, masked.suppressed
    hidden = bool((values[mask] < 0).any()) and not (values[~mask] < 0).any()
    if hidden and not _names_least(plan, masked) and _adds_up(masked, plan.table.tolerance):
        raise DataError("hidden-negative")
    if plan.table.precision is None and precision_of(values) < precision_of(values[~mask]) * (1 - SLACK):
        raise DataError("hidden-decimals")


def _names_least(plan: TablePlan, masked: SuppressedCells) -> bool:
    """Return whether the plan declares the minimum, or the file of cells does for each negative cell."""
    below = masked.suppressed & (masked.part.table.values < 0)
    by_file = plan.table.cells is not None and bool(np.isfinite(masked.part.public.low[below]).all())
    return plan.attacker.lower is not None or by_file


def _adds_up(masked: SuppressedCells, tolerance: float) -> bool:
    """Return whether the publication is consistent with a table without negative cells."""
    table, mask = masked.part.table, masked.suppressed
    bounds = Bounds(np.where(mask, 0.0, table.values), np.where(mask, np.inf, table.values))
    sides = np.full(len(table.constraints), tolerance)
    return LinearProgram(table.constraints.matrix(len(table)), bounds, Bounds(-sides, sides)).feasible()
