"""`sfumato compile`: compile all native loops in advance, for container images and read-only installations."""

import sys

from sfumato.cli.options import Quiet
from sfumato.cli.progress import progress_shown


def command(quiet: Quiet = False) -> None:
    """Compile the inner loops now, so that no later run waits for them; nothing is done where they came built."""
    from sfumato.loops.ahead import compile_ahead

    with progress_shown(quiet) as progress:
        way = compile_ahead(progress.say)
    endings = {
        "native": "The loops are built: every run begins at once.",
        "numba": "The loops are compiled and kept: later runs load them.",
        "python": "The loops run uncompiled, since SFUMATO_LOOPS says so.",
    }
    sys.stdout.write(endings[way] + "\n")
