"""`sfumato protect`: mask the cells of a table so that nobody can compute them back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.progress import show
from sfumato.tables.suppression.optimal import Progress


def command(
    plan: Annotated[Path, typer.Argument(help="The table plan (YAML or JSON).")],
    out: Annotated[Path, typer.Option("--out", help="The release folder; it must not exist yet.")],
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
) -> int:
    """Mask the cells of a table so that nobody can compute them back."""
    from sfumato.folders import check_free
    from sfumato.pipelines.tables.protect import run_plan
    from sfumato.report.tables import summary
    from sfumato.tables.plan.plan import read_table_plan

    check_free(out)
    made = read_table_plan(plan)
    with progress(quiet) as tell:
        protected = run_plan(made, tell)
    protected.save(out)
    if as_json or not quiet:
        show(summary(protected.report) + "\n", protected.report, as_json)
    if not protected.holds:
        sys.stderr.write("Warning: " + " ".join(protected.report["warnings"]) + "\n")
    return 0 if protected.holds else 1


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """A line on the terminal that says how far the search is; nothing elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with console.status("Searching") as status:
        yield lambda text: status.update(f"Searching: {text}")
