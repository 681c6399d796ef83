"""Perturb several tables together: common cells are published identically, and all linear constraints are satisfied."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.pipelines.tables.perturbation.perturb import kept, method_of, seconds_for, secret_of
from sfumato.pipelines.tables.perturbation.perturbed_table import PerturbedTable, PerturbedTables
from sfumato.pipelines.tables.protect_linked import plan_of, sheets_of
from sfumato.tables.cells.constraints import derive
from sfumato.tables.cells.system import Numbers, make_table
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import never, within
from sfumato.tables.linked.from_plan import LinkedTable, is_cyclic
from sfumato.tables.linked.view import TableView
from sfumato.tables.perturbation.apply_method import PerturbationContext, change_part
from sfumato.tables.perturbation.implicit_cell_intervals import with_cross_ranges
from sfumato.tables.perturbation.parts import joint_perturbed
from sfumato.tables.perturbation.perturbed import PerturbedCells
from sfumato.tables.plan.sections import Adjustment, Rounding, TableSpec
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.rounding.rounding import bases_of
from sfumato.tables.suppression.solver_check import check_installed

# Proportion of the time for the perturbation and the intervals of each table, if implicit cells are audited in
# addition.
CHANGE = 0.6


def perturb_several(plan: TablePlan, table: Any = None, asked: Callable[[], bool] | None = None) -> PerturbedTables:
    """Perturb the tables of a plan together.

    Args:
        plan: A plan with `tables` or microdata.
        table: The microdata as a frame, or the columns of the only table, if the plan does not name the file.
        asked: Returns whether the caller wants the current result.

    Raises:
        ViolationError: A data user of all tables can compute a sensitive cell more closely than the rules allow.
    """
    check_installed()
    method, start = method_of(plan), time.perf_counter()
    deadline = within(seconds_for(method), asked or never)
    plan, sheets = sheets_of(plan, table)
    part, joint = joint_perturbed(plan, sheets, plan.folder)
    built = time.perf_counter()
    setting = PerturbationContext(
        method, joint.columns, plan.table, plan.folder, secret_of(method), _bases(plan, joint)
    )
    changed = change_part(part, setting, deadline.share(CHANGE) if is_cyclic(joint) else deadline)
    if not isinstance(method, Adjustment):
        changed = with_cross_ranges(changed, joint, deadline)
    seconds = {"check": built - start, "perturb": time.perf_counter() - built}
    whole = kept(PerturbedTable(plan, joint.columns, (changed,), seconds))
    tables = {
        section.name: PerturbedTable(plan_of(plan, place), section.columns, (_section(changed, section),), seconds)
        for place, section in enumerate(joint.sections)
    }
    for own in tables.values():
        own.check(own.external)
    return PerturbedTables(whole, tables)


def _bases(plan: TablePlan, joint: LinkedTable) -> Numbers | None:
    if not isinstance(plan.perturbation, Rounding):
        return None
    crossings: Sequence[TableSpec | None] = plan.tables or [None] * len(joint.sections)
    own = [
        (None if crossing is None else crossing.base, section.cells)
        for crossing, section in zip(crossings, joint.sections, strict=True)
    ]
    return bases_of(plan.perturbation.base, len(joint.names), own)


def _section(changed: PerturbedCells, section: TableView) -> PerturbedCells:
    """Return the result for one of several tables, with its own cells as rows."""
    cells, table = section.cells, changed.part.table
    own = make_table(
        table.values[cells],
        derive(section.trees, section.keys),
        status=table.status[cells],
        costs=table.costs[cells],
        bounds=table.bounds.rows(cells),
        names=tuple(table.names[cell] for cell in cells),
    ).with_columns(
        protection_levels=replace(
            table.protection_levels,
            lower=table.protection_levels.lower[cells],
            upper=table.protection_levels.upper[cells],
        )
    )
    part = TablePart(
        np.arange(len(cells)),
        own,
        own.bounds,
        section.trees,
        section.keys,
        knowledge=changed.part.knowledge,
        not_audited=changed.part.not_audited,
    )
    return replace(
        changed,
        part=part,
        published=changed.published[cells],
        shown=changed.shown[cells],
        ranges=changed.ranges.rows(cells),
        attained=changed.attained[cells],
    )
