"""`sfumato apply`: applies the recoding of a release to new rows, which must keep the promises by themselves."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.talk import show, talking


def command(
    recoding: Annotated[Path, typer.Argument(help="The recoding.json of a release.")],
    rows: Annotated[Path, typer.Argument(help="The new rows.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the published rows; it must not exist yet.")],
    drop_failing: Annotated[bool, typer.Option(help="Drop new rows whose class fails a promise.")] = False,
    quiet: Annotated[bool, typer.Option(help="Say nothing but results and errors.")] = False,
    json: Annotated[bool, typer.Option(help="Print the verdict as JSON.")] = False,
) -> None:
    """Publish new rows as an earlier release published the same values."""
    from sfumato.pipelines.apply import apply

    with talking(quiet):
        application = apply(recoding, rows, out, drop_failing=drop_failing)
    show(application.text(), application.to_dict(), json)
