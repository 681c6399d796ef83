"""`sfumato pseudonyms`: create the key of pseudonyms, and reveal pseudonyms for the holder of the key."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import PlanError


class Action(StrEnum):
    """Actions of the command."""

    NEW = "new"
    REVEAL = "reveal"


Texts = Annotated[
    list[str] | None, typer.Argument(help="For reveal: the pseudonyms; from the standard input unless given.")
]
Key = Annotated[Path | None, typer.Option(help="The key file, where it lies elsewhere.", dir_okay=False)]


def command(
    action: Annotated[Action, typer.Argument(help="new: make a key file. reveal: identifiers behind pseudonyms.")],
    path: Annotated[Path, typer.Argument(help="new: the key file. reveal: the release folder.")],
    texts: Texts = None,
    domain: Annotated[str, typer.Option(help="Who works with the pseudonyms, for what.")] = "release",
    column: Annotated[str | None, typer.Option(help="Whose pseudonyms these are.")] = None,
    key: Key = None,
    by: Annotated[str, typer.Option(help="Who asks; goes into the log beside the key.")] = "",
    reason: Annotated[str, typer.Option(help="Why; goes into the log beside the key.")] = "",
) -> int:
    """Make the key of pseudonyms, or reverse pseudonyms of a release; name and reason are logged."""
    if action is Action.NEW:
        from sfumato.pipelines.pseudonyms.keys import new_key

        made = new_key(path, domain)
        sys.stderr.write(f"A key for the domain {made.domain}, {made.fingerprint}. Keep it apart from the data.\n")
        return 0
    from sfumato.pipelines.pseudonyms.reveal import reveal

    asked = texts or sys.stdin.read().split()
    if not asked:
        raise PlanError("there is no pseudonym.", "Name some, or write them to the standard input.", "pseudonym")
    for identifier in reveal(path, asked, by=by, reason=reason, column=column, key=key):
        sys.stdout.write(identifier + "\n")
    return 0
