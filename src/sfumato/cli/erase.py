"""`sfumato erase`: remove a person from the internal record of releases, and list which earlier files contain them."""

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
    """Erase a person from the internal records of releases; published rows are unchanged."""
    from sfumato.pipelines.persons.pseudonyms import erase

    erasure = erase(person, folders)
    if not quiet:
        show(erasure.text(), erasure.to_dict(), json)
