"""`sfumato hierarchy`: print or save the hierarchy of a column, to view, edit and use in a plan."""

import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import write_text
from sfumato.cli.options import PlanFile, separator_sign
from sfumato.errors import PlanError, did_you_mean

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import Hierarchy
    from sfumato.microdata.plan.model import Plan, RequestedPlan


def command(
    plan: PlanFile,
    column: Annotated[str, typer.Argument(help="A quasi-identifier of the plan.")],
    out: Annotated[Path | None, typer.Option(help="Save to this file instead of printing.")] = None,
    data: Annotated[Path | None, typer.Option(help="Other data than the plan names.")] = None,
    separator: Annotated[str, typer.Option(help="Separator between the levels.", callback=separator_sign)] = ";",
) -> None:
    """Print the hierarchy of a column: one row per value, one column per level."""
    from sfumato.hierarchies.hierarchy import hierarchy_csv
    from sfumato.microdata.plan.read import read_plan

    if len(separator) != 1:
        raise PlanError("separator.the_separator_must_be")
    if out is not None:
        check_free(out)
    hierarchy = _hierarchy(read_plan(plan), column, data)
    if out is None:
        sys.stdout.write(hierarchy_csv(hierarchy, separator))
        return
    write_text(out, hierarchy_csv(hierarchy, separator))
    sys.stderr.write(f"Wrote {hierarchy.size:,} values with {hierarchy.height} levels to {out}.\n")


def _hierarchy(plan: "RequestedPlan", column: str, data: Path | None) -> "Hierarchy":
    """Return the hierarchy of a column for the values in the data."""
    from sfumato.engines.opening import open_engine
    from sfumato.pipelines.release_stages.counting import frequency_table

    if column not in plan.quasi_identifiers:
        hint = did_you_mean(column, plan.quasi_identifiers)
        raise PlanError("column.no_quasi_identifier", hint=hint, column=column)
    with closing(open_engine(data, plan)) as source:
        return frequency_table(_alone(plan.with_others(source.columns), column), source).ladders[0]


def _alone(plan: "RequestedPlan", column: str) -> "Plan":
    """Return the plan with this column as its only quasi-identifier, so that no other one is counted or checked."""
    from sfumato.microdata.plan.resolve import for_measuring

    columns = {
        name: entry
        if name == column or entry.role == "identifier"
        else replace(entry, role="insensitive", hierarchy=None)
        for name, entry in plan.columns.items()
    }
    return for_measuring(plan, columns)
