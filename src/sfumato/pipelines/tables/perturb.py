"""Perturb one table or several together, compute what a data user can infer, and only then publish."""

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.pipelines.tables.protect_linked import plan_of, sheets_of
from sfumato.pipelines.tables.table_release import PerturbedTable, PerturbedTables
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import derive
from sfumato.tables.cells.system import Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline, never, within
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.linked.from_plan import LinkedTable, is_cyclic
from sfumato.tables.linked.view import TableView
from sfumato.tables.noise.adjustment import adjust_part
from sfumato.tables.noise.cell_key import Contents, cell_keys, chances_of, check_cell_keys, keys_by_codes, noisy_part
from sfumato.tables.noise.feasibility_intervals import with_cross_ranges
from sfumato.tables.noise.perturbed import PerturbedCells, check_readers, joint_perturbed, perturbed_parts
from sfumato.tables.noise.ptable_file import ptable_of
from sfumato.tables.noise.rounding import bases_of, round_part
from sfumato.tables.plan.sections import Adjustment, CellKey, Perturbation, Rounding, TableSource, TableSpec
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.tabulate import WORD
from sfumato.values import Value, replace


class PerturbationContext(Value):
    """The inputs of a method other than the table.

    Attributes:
        perturbation: The method in the plan.
        columns: The further columns of the table, row by row.
        source: The meaning of the columns.
        folder: Folder of files that the plan names.
        secret: The source of randomness if there are no keys.
        bases: The base of each cell, if tables have different ones.
    """

    perturbation: Perturbation
    columns: TextColumns
    source: TableSource
    folder: Path
    secret: str
    bases: Numbers | None = None


def change_part(part: TablePart, setting: PerturbationContext, deadline: Deadline) -> PerturbedCells:
    """Perturb a table, and compute the feasibility intervals.

    Raises:
        UnattainableError: The method has no solution.
    """
    method = setting.perturbation
    if isinstance(method, CellKey):
        return noisy_part(part, method, ptable_of(method, setting.folder), _contents(part, method, setting), deadline)
    if isinstance(method, Adjustment):
        return adjust_part(part, deadline)
    bases = bases_of(method.base, len(part.table)) if setting.bases is None else setting.bases
    return round_part(part, method, bases, _chances(part, method, setting), deadline)


def _chances(part: TablePart, rounding: Rounding, setting: PerturbationContext) -> Numbers:
    if rounding.kind != "random":
        return np.zeros(len(part.table))
    if rounding.key is None:
        return chances_of(keys_by_codes(setting.secret, part))
    keys = cell_keys(setting.columns, rounding.key)
    check_cell_keys(part, keys, WORD, part.table.values == 0)
    return chances_of(keys)


def _contents(part: TablePart, method: CellKey, setting: PerturbationContext) -> Contents:
    """Return the inputs of noise; cells tabulated from microdata have their keys in the column `key`."""
    named = [method.key] if method.record is None and method.key is not None else []
    name = next((name for name in (*named, "key") if name in setting.columns), None)
    if method.zeros and method.secret is None:
        raise PlanError("no-secret")
    if name is None:
        raise PlanError("no-key.no_keys")
    modulus = WORD if method.digits is None else 10**method.digits
    source, columns = setting.source, setting.columns
    marks = columns.text(method.structural) if method.structural else ("",) * len(part.table)
    return Contents(
        keys=tuple(cell_keys(columns, name, modulus)),
        modulus=modulus,
        counts=None if source.counts else columns.numbers(source.frequency or ""),
        largest=tuple(columns.optional(column) for column in source.contributions),
        structural=np.array([bool(mark) for mark in marks], bool),
        secret=setting.secret,
    )


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
    cells = section.cells
    own = changed.part.table.rows(cells, derive(section.trees, section.keys))
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
