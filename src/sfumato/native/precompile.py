"""Build the extension module for this installation: next to the sources, or in the user's cache."""

import os
import subprocess
import sys
from collections.abc import Callable

from sfumato.errors import EngineError
from sfumato.native.cache_folder import cache_folder, is_own
from sfumato.native.dispatch import ROOT, find_native, stamp

ProgressCallback = Callable[[str], None]


def build_ahead(tell: ProgressCallback) -> None:
    """Build the extension module if it is missing or outdated.

    Args:
        tell: Called with a line before the build, which takes about ten seconds.
    """
    if find_native() is not None:
        return
    folder = ROOT / "native" if os.access(ROOT / "native", os.W_OK) else cache_folder() / stamp()
    if folder.parent != ROOT and not is_own(folder.parent):
        raise EngineError("loops.folder", name=folder.parent)
    tell(f"Building the loops in {folder} …")
    # In another process, because this one may have loaded the sources of the loops already.
    command = [sys.executable, "-m", "sfumato.native.build", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise EngineError("loops.compiler")
