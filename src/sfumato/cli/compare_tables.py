"""`sfumato compare-tables`: protect one table with every method and compare cost and detail."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, Quiet
from sfumato.cli.progress import show


def command(
    plan: Annotated[Path, typer.Argument(help="The table plan (YAML or JSON).")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the report; it must not exist yet.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas; all by default.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each method.")] = 20.0,
    redesign: Annotated[float, typer.Option(help="Seconds for proposals of coarser tables; 0 for none.")] = 20.0,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Compare all methods for a table: suppressed cells, lost values, noise, risk, time."""
    from sfumato.pipelines.tables.compare_tables import METHODS, compare_tables
    from sfumato.report.tables.comparison import text

    if out is not None:
        check_free(out)
    names = METHODS if methods is None else tuple(name.strip() for name in methods.split(","))
    tell = None if quiet else _tell
    done = compare_tables(plan, methods=names, time_limit=time_limit, redesign_seconds=redesign, progress=tell)
    if out is not None:
        done.save(out)
    show(text(done), done.to_dict(), json)
    if out is not None and not quiet:
        sys.stderr.write(f"Comparison: {out / 'compare.html'}\n")
    return 0


def _tell(name: str) -> None:
    sys.stderr.write(f"Trying {name}\n")
