"""`sfumato suggest`: propose roles, types and hierarchies for a file, as a plan that can be run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import write_text
from sfumato.cli.options import Decimal, Encoding, Header, Separator, Table


def command(
    file: Annotated[Path, typer.Argument(help="The data.")],
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    encoding: Encoding = None,
    table: Table = None,
    out: Annotated[Path | None, typer.Option(help="Write the plan to this file, paths relative to it.")] = None,
) -> None:
    """Propose a plan for a file, with a reason for each column."""
    import os

    from sfumato.pipelines.suggest import suggest_for_file

    if out is not None:
        check_free(out)
    suggested = suggest_for_file(file, separator, encoding, header, decimal, table)
    folder = _folder_of_output() if out is None else out.parent
    if out is not None or (folder is not None and not file.is_absolute()):
        suggested.plan["data"]["source"] = Path(os.path.relpath(file, folder)).as_posix()
    for note in suggested.notes:
        sys.stderr.write(f"Warning: {note}\n")
    if out is None:
        sys.stdout.write(suggested.to_yaml())
    else:
        write_text(out, suggested.to_yaml())


def _folder_of_output() -> Path | None:
    """Return the folder of the file to which output is redirected, if the system knows it; paths start there."""
    try:
        target = Path(f"/dev/fd/{sys.stdout.fileno()}").resolve(strict=True)
    except (OSError, ValueError):
        return None
    return target.parent if target.is_file() else None
