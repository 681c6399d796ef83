"""Audit a published table as a stranger would."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError
from sfumato.pipelines.protect import ProtectedTable, columns_from
from sfumato.tables.attack.audit import Audit
from sfumato.tables.cells.columns import Columns
from sfumato.tables.plan.plan import TablePlan, read_table_plan
from sfumato.tables.published.reading import read_published
from sfumato.tables.published.review import review
from sfumato.tables.suppression.installed import check_installed


def audit(
    table: Any,
    plan: str | Path | Mapping[str, Any] | TablePlan | None = None,
    *,
    integer: bool | None = None,
    own_contribution: bool | None = None,
) -> Audit:
    """Attack a published table.

    Args:
        table: What `protect` returned, or a frame or the path of a CSV file, with the plan's dimensions and what was
            published: columns `<value>_published`, `_lower`, `_upper` (or the original's), or the value column itself
            with masks in it.
        plan: The plan with the dimensions and rules; not needed for what `protect` returned.
        integer: Whether the attacker knows that values are whole; as the plan says by default.
        own_contribution: Whether single respondents attack with their own value; as the plan says by default.

    Raises:
        PlanError: The plan is not one, or a column is missing.
        DataError: A cell is unreadable, or the published totals do not add up.
        EngineError: A part of the installation is missing.
    """
    check_installed()
    if isinstance(table, ProtectedTable):
        table, plan = table.columns, plan or table.plan
    if plan is None:
        raise PlanError("the audit needs the plan.", "Name it: it says which cells add up.", "no-plan")
    attacked = _attacked_by(read_table_plan(plan), integer, own_contribution)
    columns = table if isinstance(table, Columns) else columns_from(table, attacked)
    return review(columns, attacked, read_published(columns, attacked))


def _attacked_by(plan: TablePlan, integer: bool | None, own_contribution: bool | None) -> TablePlan:
    attacker = plan.attacker if integer is None else replace(plan.attacker, integer=integer)
    method = plan.method if own_contribution is None else replace(plan.method, insiders=own_contribution)
    return replace(plan, attacker=attacker, method=method)
