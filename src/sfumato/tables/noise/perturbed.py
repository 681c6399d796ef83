"""A perturbed table: the input with its rules, published values, errors, and what a data user can compute."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import DataError, ViolationError
from sfumato.tables.build import cell_names, dimensions_of, grouped, heights_of, instance_part, lines_of, relations_of
from sfumato.tables.cell_labels import cells_named, lower_end, number, upper_end
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, derive, describe
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    make_table,
)
from sfumato.tables.cells.table_part import TablePart, in_group
from sfumato.tables.linked.from_plan import InputTable, LinkedTable, join, merged
from sfumato.tables.plan.rules import RuleInputs, check_marks
from sfumato.tables.plan.sections import Adjustment
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import costs_of, facts_of, judgment_of, knowledge_of, plan_precision
from sfumato.tables.table_result import TableAnswer
from sfumato.values import Value, field, replace


class PerturbedCells(Value):
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


class PerturbedResult(TableAnswer[PerturbedCells], dict=True):
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


def perturbed_parts(plan: TablePlan, columns: TextColumns) -> list[TablePart]:
    """Build the tables of a plan, and check that they add up.

    Raises:
        PlanError: A column that the plan names is missing.
        DataError: Duplicate cells, missing parents, values that are not numbers, or totals that do not add up.
    """
    if plan.table.cells is not None:
        return [_instance(plan, columns)]
    check_marks(plan.primary, columns)
    trees, codes = dimensions_of(plan.dimensions, columns, plan.folder)
    parts = []
    for group, rows in grouped(plan, columns):
        own, keys = columns.rows(rows), tuple(codes[row] for row in rows)
        try:
            relations = derive(trees, keys)
            names, lines = tuple(describe(trees, key) for key in keys), lines_of(trees, keys)
            above = dict(zip(plan.dimensions, lines, strict=True))
            part = _part(plan, own, relations, names, heights_of(trees, keys), lines=above)
        except DataError as error:
            raise in_group(error, group, rows) from None
        parts.append(replace(part, rows=rows, trees=trees, keys=keys, group=group))
    return parts


def joint_perturbed(plan: TablePlan, sheets: Sequence[InputTable], folder: Path) -> tuple[TablePart, LinkedTable]:
    """Combine several tables, so that common cells are perturbed equally."""
    joint = join(sheets, folder)
    numbers = [section.columns.numbers(plan.table.value) for section in joint.sections]
    step = plan_precision(plan.table, np.concatenate(numbers))
    values = merged(joint, numbers, step, plan.table.tolerance)
    return _part(plan, joint.columns, joint.relations, joint.names, joint.heights, values), joint


def _instance(plan: TablePlan, columns: TextColumns) -> TablePart:
    if "status" in columns:
        # The file gives sensitive cells and protection levels itself.
        return instance_part(replace(plan, perturbation=None), columns)
    return _part(plan, columns, relations_of(plan, columns), cell_names(columns), np.zeros(len(columns)))


def _part(
    plan: TablePlan,
    columns: TextColumns,
    relations: LinearConstraints,
    names: tuple[str, ...],
    heights: Numbers,
    values: Numbers | None = None,
    lines: Mapping[str, Places] | None = None,
) -> TablePart:
    numbers = columns.numbers(plan.table.value) if values is None else values
    check(relations, numbers, plan.table.tolerance, plan_precision(plan.table, numbers))
    facts = facts_of(plan.table, columns, numbers, relations, lines)
    low = -np.inf if (numbers < 0).any() else 0.0
    bounds = Bounds(np.full(len(numbers), low), np.full(len(numbers), np.inf))
    judgment = judgment_of(plan, facts)
    table = make_table(numbers, relations, names=names, bounds=bounds).with_columns(
        status=np.where(judgment.unsafe, CellStatus.SENSITIVE, CellStatus.SAFE).astype(np.int8),
        protection_levels=ProtectionLevels(np.minimum(judgment.reach.lower, numbers - low), judgment.reach.upper),
        costs=_costs(plan, facts) * plan.method.level_factor**heights,
    )
    return TablePart(np.arange(len(numbers)), table, bounds, knowledge=knowledge_of(plan, numbers))


def _costs(plan: TablePlan, facts: RuleInputs) -> Numbers:
    if isinstance(plan.perturbation, Adjustment):
        return costs_of(replace(plan.method, cost=plan.perturbation.cost), facts)
    return np.ones(len(facts.values))
