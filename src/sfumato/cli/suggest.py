"""`sfumato suggest`: proposes roles, types and hierarchies for a file, as a plan that runs as it is."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[Path, typer.Argument(help="The data.")],
    separator: Annotated[str | None, typer.Option(help="Of a CSV file; found out by default.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a CSV file; UTF-8 by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the plan to this file, paths relative to it.")] = None,
) -> None:
    """Propose a plan for a file, with a reason for each column."""
    import os

    from sfumato.errors import PlanError
    from sfumato.microdata.profiling import suggest_for_file

    suggested = suggest_for_file(file, separator, encoding)
    if out is None:
        sys.stdout.write(suggested.to_yaml())
        return
    if out.exists():
        raise PlanError(f"{out.name} exists.", "Name a new file: nothing is overwritten.", "output-exists")
    suggested.plan["data"]["source"] = Path(os.path.relpath(file, out.parent)).as_posix()
    out.write_text(suggested.to_yaml(), encoding="utf-8")
