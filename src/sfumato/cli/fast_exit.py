"""End a command quickly: run the exit handlers and flush, but skip the teardown of hundreds of modules."""

import atexit
import os
import sys
import threading
from typing import NoReturn

# Exit code of Python if the last output cannot be written.
UNWRITTEN = 120


def leave(code: int) -> NoReturn:
    """End the process like Python, but leave its memory to the system, which saves a tenth of a second.

    Thread pools are told to end before they are waited for, as Python does. Idle databases are only memory.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    spares = sys.modules.get("sfumato.engines.duckdb.database")
    if spares is not None:
        atexit.unregister(spares.SPARES.end)
    atexit._run_exitfuncs()
    os._exit(code if _flushed() else code or UNWRITTEN)


def _flushed() -> bool:
    """Return whether the output was written; streams that are missing or closed have no output."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            written = False
    return written
