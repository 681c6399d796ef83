"""`sfumato erase`: takes a person out of the house's record of releases, and says what earlier files still contain."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import AsJson, Quiet
from sfumato.cli.progress import show


def command(
    folders: Annotated[list[Path], typer.Argument(help="Release folders with an internal person record.")],
    person: Annotated[str, typer.Option(help="The person, as identified in the original data.")],
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Erase a person from the record of releases; published rows stay as they are."""
    from sfumato.pipelines.previous.erasing import erase

    erasure = erase(person, folders)
    if not quiet:
        show(erasure.text(), erasure.to_dict(), json)
