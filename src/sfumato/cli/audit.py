"""`sfumato audit`: attack a published table as anyone could, and say which masked cells give way."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    table: Annotated[Path, typer.Argument(help="The published table (CSV).")],
    plan: Annotated[Path, typer.Option("--plan", help="The table plan with dimensions and rules.")],
    integer: Annotated[bool, typer.Option("--integer", help="The attacker knows that all values are whole.")] = False,
    own: Annotated[
        bool, typer.Option("--own-contribution", help="Single respondents attack with their value.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every cell's range and verdict.")] = False,
) -> int:
    """Attack a published table as anyone could; exit 1 when a masked cell gives way."""
    from sfumato.pipelines.audit import audit
    from sfumato.report.tables import review_figures, review_lines

    review = audit(table, plan, integer=integer or None, own_contribution=own or None)
    if as_json:
        sys.stdout.write(json.dumps(review_figures(review), indent=2, ensure_ascii=False) + "\n")
    elif not quiet:
        sys.stdout.write("\n".join(review_lines(review)) + "\n")
    return 0 if review.passed else 1
