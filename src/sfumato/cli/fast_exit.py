"""End a command quickly: run the exit handlers and flush, but skip the teardown of hundreds of modules."""

import atexit
import os
import sys
import threading
from typing import NoReturn

# What Python ends with where the last of the output cannot be written.
UNWRITTEN = 120


def leave(code: int) -> NoReturn:
    """End the process as Python would, save that its memory is left to the system, which saves a tenth of a second.

    Pools of threads are told to end before they are waited for, as Python does. Databases that wait have nothing but
    memory.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    spares = sys.modules.get("sfumato.engines.duckdb.connection_pool")
    if spares is not None:
        atexit.unregister(spares.SPARES.end)
    atexit._run_exitfuncs()
    os._exit(code if _flushed() else code or UNWRITTEN)


def _flushed() -> bool:
    """Whether what was said is out; streams that are gone or closed have nothing to say."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            written = False
    return written
