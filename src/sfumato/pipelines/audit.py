"""Audit a published table as a stranger would."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError
from sfumato.pipelines.protect import ProtectedTable
from sfumato.tables.cells.columns import Columns, read_columns
from sfumato.tables.plan.plan import TablePlan, read_table_plan
from sfumato.tables.published.reading import seen_in
from sfumato.tables.published.review import Review, _attacked_by, _unvalued, _valued
from sfumato.tables.suppression.installed import check_installed


def audit(
    table: Any,
    plan: str | Path | Mapping[str, Any] | TablePlan | None = None,
    *,
    integer: bool | None = None,
    own_contribution: bool | None = None,
) -> Review:
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
    made = _attacked_by(read_table_plan(plan), integer, own_contribution)
    columns = _columns(table, made)
    seen = seen_in(columns, made)
    return _valued(columns, made, seen) if seen.valued else _unvalued(columns, made, seen)


def _columns(table: Any, plan: TablePlan) -> Columns:
    if isinstance(table, Columns):
        return table
    if isinstance(table, str | Path):
        return read_columns(Path(table), plan.table.separator)
    from sfumato.engines.tabulation import columns_of

    return Columns(columns_of(table))
