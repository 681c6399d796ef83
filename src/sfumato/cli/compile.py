"""`sfumato compile`: build the compiled loops where the package was installed without them."""

import sys

from sfumato.cli.options import Quiet
from sfumato.cli.progress import progress_shown


def command(quiet: Quiet = False) -> None:
    """Build the compiled loops with a C compiler or ziglang, unless they came with the package."""
    from sfumato.native.build import build_ahead

    with progress_shown(quiet) as progress:
        build_ahead(progress.say)
    sys.stdout.write("The loops are built.\n")
