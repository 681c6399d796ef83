"""Audit a published table as an outsider would."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.pipelines.tables.protect_linked import chains_of, of_crossed
from sfumato.pipelines.tables.table_release import PerturbedTable, ProtectedTable, ProtectedTables
from sfumato.pipelines.tables.table_source import columns_from, errors_in, with_metadata
from sfumato.tables.attack.findings import Audit
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats import JJ, format_of
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.linked.from_plan import InputTable
from sfumato.tables.linked.records import Chain
from sfumato.tables.noise.audit_perturbed import review_perturbed
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.plan.sections import AttackerOptions, TableSpec
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.published_tables.audit_responses import ReleasedTable, review_responses
from sfumato.tables.published_tables.audit_table import review
from sfumato.tables.published_tables.further_columns import published_names, unexplained_columns
from sfumato.tables.published_tables.parse_cells import ParsedTable, read_published, unlisted_cells, with_rows_left_out
from sfumato.values import replace


def audit(
    table: Any,
    plan: str | Path | Mapping[str, Any] | TablePlan | Sequence[Any] | None = None,
    *,
    integer: bool | None = None,
    insiders: bool | None = None,
    harmless: Sequence[str] = (),
) -> Audit:
    """Audit a published table.

    Args:
        table: The result of `protect`, or a frame or CSV file with the dimensions of the plan and the published
            columns. These are `<value>_published`, `_lower`, `_upper` (or the original's names), or the value column
            itself with suppression marks. Tables in a list are audited together.
        plan: The plan with dimensions and rules; not needed for results of `protect`. For several tables, one plan with
            `tables` in the same order, or a list of plans.
        integer: Whether the attacker knows that values are integers; by default as in the plan.
        insiders: Whether single respondents attack with their own contribution; by default as in the plan.
        harmless: Numeric columns next to suppressed cells that reveal nothing about them, in addition to the plan's.

    Raises:
        PlanError: The plan is invalid, or a column is missing.
        DataError: A cell is unreadable, or the published totals do not add up.
        EngineError: A part of the installation is missing.
    """
    check_installed()
    adapted = partial(_attacked_by, integer=integer, own=insiders, harmless=tuple(harmless))
    if isinstance(table, ProtectedTables):
        plan, linked = plan or table.joint.plan, (table.chains, table.recorded)
        return _several([one.columns for one in table.tables.values()], plan, adapted, linked)
    if isinstance(table, list | tuple):
        return _several(table, plan, adapted)
    if isinstance(table, ProtectedTable | PerturbedTable):
        table, plan = table.columns, plan or table.plan
    if plan is None:
        raise PlanError("no-plan.the_audit_needs_the_plan")
    attacked = with_metadata(adapted(_plan_for(table, read_table_plan(plan))), table)  # type: ignore[arg-type]
    with errors_in(Path(table) if isinstance(table, str | Path) else None, attacked.table, attacked.dimensions):
        columns = table if isinstance(table, TextColumns) else columns_from(table, attacked, published=True)
        reading = read_published(columns, attacked)
        judge = review if attacked.perturbation is None else review_perturbed
        whole, shown = with_rows_left_out(columns, attacked, reading, attacked.dimensions)
        return replace(
            judge(whole, attacked, shown),
            all_unsafe=_all_sensitive(table, columns, reading),
            unexplained=unexplained_columns(columns, attacked, reading, attacked.dimensions),
            unlisted=unlisted_cells(columns, attacked, reading, attacked.dimensions),
        )


def _plan_for(table: Any, plan: TablePlan) -> TablePlan:
    """Return the plan for the audited table; a `.jj` file has its own cells, constraints and protection levels."""
    if format_of(table) is JJ and plan.table.cells is None:
        path = str(Path(table).resolve())
        return replace(
            read_table_plan({"version": 1, "table": {"cells": path, "relations": path}}), attackers=plan.attackers
        )
    return plan if plan.table.microdata is None else of_crossed(plan)


def _all_sensitive(table: Any, columns: TextColumns, reading: ParsedTable) -> bool:
    """Return whether all suppressed cells of a `.jj` file are sensitive; such files mark no secondary suppressions."""
    if format_of(table) is not JJ:
        return False
    marks = {mark for mark, hit in zip(columns.text("status"), np.isnan(reading.exact), strict=True) if hit}
    return marks == {"u"}


def _several(
    tables: Sequence[Any],
    plan: Any,
    adapted: Callable[[TablePlan], TablePlan],
    linked: tuple[tuple[Chain, ...], frozenset[str]] | None = None,
) -> Audit:
    """Audit several tables together, by one plan with all of them or by a plan for each.

    Functional dependencies are given by `linked`, or found in the records of the first plan if they exist.
    """
    if plan is None:
        raise PlanError("no-plan.the_audit_needs_the_plan")
    listed = plan if isinstance(plan, list | tuple) else [plan]
    plans = [adapted(with_metadata(read_table_plan(one))) for one in listed]
    _check_masked(plans)
    chains, recorded = linked or _linked(plans)
    released = [
        _released(table, own, crossing, chains, recorded)
        for table, (own, crossing) in zip(tables, _crossings(plans, tables), strict=True)
    ]
    responses: dict[tuple[str, str | None], list[ReleasedTable]] = {}
    for one in released:
        responses.setdefault((one.plan.table.value, one.plan.output.prefix), []).append(one.whole)
    measures = {name for one in released for name in published_names(one.plan)}
    unexplained = [
        column
        for one in released
        for column in unexplained_columns(
            one.sheet.columns,
            one.plan,
            one.reading,
            one.sheet.dimensions,
            measures - published_names(one.plan),
            [other for other in released if other is not one],
        )
    ]
    unlisted = [
        cell
        for one in released
        for cell in unlisted_cells(one.sheet.columns, one.plan, one.reading, one.sheet.dimensions)
    ]
    return replace(
        review_responses([*responses.values()]),
        unexplained=tuple(dict.fromkeys(unexplained)),
        unlisted=tuple(dict.fromkeys(unlisted)),
    )


def _crossings(plans: Sequence[TablePlan], tables: Sequence[Any]) -> list[tuple[TablePlan, TableSpec]]:
    """Return for each table its plan and its dimensions.

    Raises:
        PlanError: The numbers of tables and plans differ.
    """
    first = plans[0]
    if first.tables:
        own = [(first, crossing) for crossing in first.tables]
    else:
        own = [(one, TableSpec(f"table {place}", one.dimensions)) for place, one in enumerate(plans, 1)]
    if len(own) != len(tables):
        raise PlanError("tables-and-plans", count=len(tables), number=len(own))
    return own


def _linked(plans: Sequence[TablePlan]) -> tuple[tuple[Chain, ...], frozenset[str]]:
    """Return the functional dependencies in the records of a plan; empty if the records do not exist."""
    first = plans[0]
    records = None if first.table.microdata is None else first.table.microdata.within(first.folder)
    if not first.tables or records is None or not records.is_file():
        return (), frozenset()
    placed = [{key: part.placed(first.folder) for key, part in own.dimensions.items()} for own in first.tables]
    return chains_of(first, records, placed)


def _released(
    table: Any, plan: TablePlan, crossing: TableSpec, chains: tuple[Chain, ...], recorded: frozenset[str]
) -> ReleasedTable:
    """Return a published table, read by its own dimensions, because a file without a header does not name them."""
    columns = table if isinstance(table, TextColumns) else columns_from(table, _alone(plan, crossing), published=True)
    dimensions = {key: part.placed(plan.folder) for key, part in crossing.dimensions.items()}
    return ReleasedTable(
        plan, InputTable(crossing.name, dimensions, columns, chains, recorded), read_published(columns, plan)
    )


def _alone(plan: TablePlan, crossing: TableSpec) -> TablePlan:
    """Return the plan of one of several tables, or the joint plan if all rules are about dimensions of others."""
    rules = tuple(
        rule for rule in plan.primary if not isinstance(rule, GroupDisclosure) or rule.dimension in crossing.dimensions
    )
    if not plan.tables or not rules:
        return plan
    return replace(plan, dimensions=crossing.dimensions, tables=(), primary=rules)


def _check_masked(plans: Sequence[TablePlan]) -> None:
    """Refuse plans with perturbation, because joint inference from several perturbed tables is not computed."""
    changed = [plan.perturbation.name for plan in plans if plan.perturbation is not None]
    if changed:
        raise PlanError("changed-together", name=changed[0])


def _attacked_by(plan: TablePlan, integer: bool | None, own: bool | None, harmless: tuple[str, ...]) -> TablePlan:
    attacker = plan.attacker if integer is None else replace(plan.attacker, integer=integer)
    attackers = plan.attackers if own is None else AttackerOptions(respondents=own, holdings=own, persons=own)
    table = replace(plan.table, harmless=(*plan.table.harmless, *harmless))
    return replace(plan, table=table, attacker=attacker, attackers=attackers)
