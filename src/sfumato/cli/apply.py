"""`sfumato apply`: apply the recoding of a release to new rows, which must satisfy the privacy models by themselves."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, NewFolder, Quiet
from sfumato.cli.progress import progress_shown, show


def command(
    recoding: Annotated[Path, typer.Argument(help="The recoding.json of a release.")],
    rows: Annotated[Path, typer.Argument(help="The new rows.")],
    *,
    out: NewFolder,
    drop_violating: Annotated[
        bool, typer.Option(help="Drop new rows whose equivalence class violates a privacy model.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Publish new rows with the labels of an earlier release."""
    from sfumato.pipelines.apply import apply

    check_free(out)
    with progress_shown(quiet):
        application = apply(recoding, rows, out, drop_violating=drop_violating)
    show(application.text(), application.to_dict(), json)
