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


Texts = Annotated[list[str] | None, typer.Argument(help="Pseudonyms to reveal; read from standard input if omitted.")]
Key = Annotated[
    Path | None,
    typer.Option(help="The key file; by default that of the plan or of the release folder.", dir_okay=False),
]


def command(
    action: Annotated[
        Action, typer.Argument(help="new: create a key file. reveal: print the identifiers of pseudonyms.")
    ],
    path: Annotated[Path, typer.Argument(help="new: the key file. reveal: the release folder.")],
    texts: Texts = None,
    domain: Annotated[str, typer.Option(help="Domain: the recipient and purpose of the pseudonyms.")] = "release",
    column: Annotated[str | None, typer.Option(help="The column with the pseudonyms.")] = None,
    key: Key = None,
    by: Annotated[
        str, typer.Option(help="Name of the person requesting; recorded in the log next to the key file.")
    ] = "",
    reason: Annotated[str, typer.Option(help="Reason of the request; recorded in the log next to the key file.")] = "",
) -> int:
    """Create a key for pseudonyms, or reveal pseudonyms of a release; name and reason are logged."""
    if action is Action.NEW:
        from sfumato.pipelines.persons.pseudonyms import new_key

        made = new_key(path, domain)
        sys.stderr.write(
            f"A key for the domain {made.domain}, {made.fingerprint}. Store it separately from the data.\n"
        )
        return 0
    from sfumato.pipelines.persons.pseudonyms import reveal

    asked = texts or sys.stdin.read().split()
    if not asked:
        raise PlanError("pseudonym.there_no_pseudonym")
    for identifier in reveal(path, asked, by=by, reason=reason, column=column, key=key):
        sys.stdout.write(identifier + "\n")
    return 0
