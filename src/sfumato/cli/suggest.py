"""`sfumato suggest`: proposes roles, types and hierarchies for a file, as a plan that runs as it is."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.files import write_text
from sfumato.cli.options import Decimal, Header, Separator
from sfumato.folders import check_free


def command(
    file: Annotated[Path, typer.Argument(help="The data.")],
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    encoding: Annotated[str | None, typer.Option(help="Of a CSV file; UTF-8 by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the plan to this file, paths relative to it.")] = None,
) -> None:
    """Propose a plan for a file, with a reason for each column."""
    import os

    from sfumato.pipelines.suggest import suggest_for_file

    if out is not None:
        check_free(out)
    suggested = suggest_for_file(file, separator, encoding, header, decimal)
    if out is None:
        sys.stdout.write(suggested.to_yaml())
        return
    suggested.plan["data"]["source"] = Path(os.path.relpath(file, out.parent)).as_posix()
    write_text(out, suggested.to_yaml())
