"""Perturb one table or several together, compute what a data user can infer, and only then publish."""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.pipelines.tables.protect_linked import plan_of, sheets_of
from sfumato.pipelines.tables.table_release import PerturbedTable, PerturbedTables
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import derive
from sfumato.tables.cells.system import Numbers, make_table
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import never, within
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.linked.from_plan import LinkedTable, is_cyclic
from sfumato.tables.linked.view import TableView
from sfumato.tables.noise.apply_method import PerturbationContext, change_part
from sfumato.tables.noise.feasibility_intervals import with_cross_ranges
from sfumato.tables.noise.perturbed import PerturbedCells, check_readers, joint_perturbed, perturbed_parts
from sfumato.tables.noise.rounding import bases_of
from sfumato.tables.plan.sections import Adjustment, Perturbation, Rounding, TableSpec
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.values import replace

# Seconds for the feasibility intervals if the method itself needs no time.
READERS = 20.0


def perturb(
    plan: TablePlan, columns: TextColumns, like: Any = None, asked: Callable[[], bool] | None = None
) -> PerturbedTable:
    """Perturb a table as its plan requests, if its protection intervals are satisfied.

    Args:
        plan: A plan with a perturbation method.
        like: The frame that was passed in.
        asked: Returns whether the caller wants the current result.

    Raises:
        ViolationError: A data user can compute a sensitive cell more closely than the rules allow.
        UnattainableError: The method has no answer.
    """
    check_installed()
    table = kept(change(plan, columns, like, asked))
    table.check(table.external)
    return table


def change(
    plan: TablePlan, columns: TextColumns, like: Any = None, asked: Callable[[], bool] | None = None
) -> PerturbedTable:
    """Perturb a table without checking the protection intervals, for comparison only, not for publication."""
    method = method_of(plan)
    start = time.perf_counter()
    deadline = within(seconds_for(method), asked or never)
    parts = perturbed_parts(plan, columns)
    secret = secret_of(method)
    built = time.perf_counter()
    left, done = sum(len(part.table) for part in parts), []
    for part in parts:
        share = deadline.share(len(part.table) / max(left, 1))
        left -= len(part.table)
        done.append(
            change_part(
                part, PerturbationContext(method, columns.rows(part.rows), plan.table, plan.folder, secret), share
            )
        )
    seconds = {"check": built - start, "perturb": time.perf_counter() - built}
    return PerturbedTable(plan, columns, tuple(done), seconds, like)


def method_of(plan: TablePlan) -> Perturbation:
    """Return the plan's perturbation method."""
    if plan.perturbation is None:
        raise PlanError("method")
    return plan.perturbation


def secret_of(method: Perturbation) -> str:
    """Return the secret of the plan, or a random one."""
    return (None if isinstance(method, Adjustment) else method.secret) or secrets.token_hex(32)


def seconds_for(method: Perturbation) -> float:
    """Return the time limit for search and feasibility intervals together."""
    return method.time_limit if isinstance(method, Rounding | Adjustment) else READERS


def kept(table: PerturbedTable) -> PerturbedTable:
    """Return the table if its protection intervals are satisfied.

    Raises:
        ViolationError: They are not.
    """
    check_readers(table.parts)
    return table


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
