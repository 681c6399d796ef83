"""The input of a perturbation: cells, relations, and the rules of the plan, if any."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.build import cell_names, dimensions_of, grouped, heights_of, instance_part, lines_of, relations_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, derive, describe
from sfumato.tables.cells.system import (
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
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import check_marks
from sfumato.tables.plan.sections import Adjustment
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import costs_of, facts_of, judgment_of, knowledge_of, plan_precision


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
