"""`sfumato verify`: evaluate a released file by itself; exits with 1 if a guarantee is violated."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import AsJson, Quiet, Separator, Table, names
from sfumato.cli.progress import show
from sfumato.errors import STATUS, PlanError


def command(
    releases: Annotated[
        list[Path], typer.Argument(help="A release folder or file; or several folders, to verify them jointly.")
    ],
    plan: Annotated[Path | None, typer.Option(help="The plan whose privacy models are verified.")] = None,
    k: Annotated[int | None, typer.Option(min=1, help="Check k-anonymity without a plan.")] = None,
    quasi_identifiers: Annotated[str | None, typer.Option(help="With --k: the columns, separated by commas.")] = None,
    separator: Separator = None,
    table: Table = None,
    persons: Annotated[
        Path | None, typer.Option(help="The keys of the rows' persons (persons.parquet), where promises count persons.")
    ] = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Check that a released file satisfies its privacy models, independently of the code that made it."""
    del quiet  # there is no progress, and results are always printed
    if len(releases) > 1:
        return _together(releases, (plan, k, quasi_identifiers, separator, table, persons), json)
    from sfumato.pipelines.verify import verify
    from sfumato.report.checks import verdict_text

    release = releases[0]

    columns = [name.strip() for name in names(quasi_identifiers) or ()] or None
    verdict = verify(release, plan, k=k, quasi_identifiers=columns, separator=separator, persons=persons, table=table)
    show(verdict_text(verdict), verdict.to_dict(), json)
    return 0 if verdict.satisfied else STATUS["promise"].exit


def _together(releases: list[Path], others: tuple[object, ...], json: bool) -> int:
    """Evaluate several folders together, each by its own plan."""
    if any(other is not None for other in others):
        raise PlanError("options.several_folders_judged_by")
    from sfumato.pipelines.persons.match_persons import verify_together

    verdict = verify_together(releases)
    show(verdict.text(), verdict.to_dict(), json)
    return 0 if verdict.satisfied else STATUS["promise"].exit
