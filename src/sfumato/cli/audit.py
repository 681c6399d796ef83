"""`sfumato audit`: attack a published table as anyone could, and list the suppressed cells that are disclosed."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.progress import show


def command(
    table: Annotated[list[Path], typer.Argument(help="The published tables (CSV); several are attacked together.")],
    plan: Annotated[
        list[Path],
        typer.Option("--plan", help="The table plan with dimensions and rules; one for all, or one for each."),
    ],
    integer: Annotated[bool, typer.Option("--integer", help="The attacker knows that all values are whole.")] = False,
    insiders: Annotated[
        bool, typer.Option("--insiders", help="Single respondents attack with their own contribution known.")
    ] = False,
    harmless: Annotated[
        list[str] | None,
        typer.Option("--harmless", metavar="COLUMN", help="A column that reveals nothing of suppressed cells; repeat."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every cell's range and verdict.")] = False,
) -> int:
    """Attack a published table as anyone could.

    Exit 1 if a suppressed cell can be computed or a column next to one is unexplained, 4 if not all was audited.
    """
    from sfumato.pipelines.tables.audit import audit
    from sfumato.report.tables.report import review_figures, review_lines

    plans = plan[0] if len(plan) == 1 else plan
    tables = table[0] if len(table) == 1 else table
    review = audit(tables, plans, integer=integer or None, insiders=insiders or None, harmless=harmless or ())
    if as_json or not quiet:
        show("\n".join(review_lines(review)) + "\n", review_figures(review), as_json)
    if review.leaks or review.contradictions or review.unexplained:
        return 1
    return 4 if review.not_audited else 0
