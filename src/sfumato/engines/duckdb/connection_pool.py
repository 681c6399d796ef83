"""A pool of idle databases: opening and closing one takes as long as releasing a small file."""

import atexit
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from sfumato.engines.duckdb.instance import Instance

# Maximum number of idle databases; a release that is written by one and read by another needs two.
MOST = 2


class ConnectionPool:
    """A pool of idle, empty in-memory databases."""

    def __init__(self) -> None:
        self._waiting: list[Instance] = []
        self._alone = Lock()

    def take(self, opens: Iterable[Path]) -> Instance | None:
        """Take an idle database that may open some files and folders, or return None."""
        paths = tuple(opens)
        with self._alone:
            fitting = next((instance for instance in self._waiting if instance.covers(paths)), None)
            if fitting is not None:
                self._waiting.remove(fitting)
        if fitting is None or fitting.resume():
            return fitting
        fitting.close()
        return None

    def keep(self, instance: Instance) -> None:
        """Return a database to the pool after all its sessions are closed; one not in its initial state is closed.

        If the pool is full, the oldest is closed, because the next job probably opens the files of the latest.
        """
        if not instance.rest():
            instance.close()
            return
        with self._alone:
            self._waiting.append(instance)
            left = self._waiting[:-MOST]
            del self._waiting[:-MOST]
        for oldest in left:
            oldest.close()

    def end(self) -> None:
        """Close the idle databases."""
        with self._alone:
            waiting, self._waiting = self._waiting, []
        for instance in waiting:
            instance.close()


SPARES = ConnectionPool()
atexit.register(SPARES.end)
# Threads do not exist in a forked process, and a database would wait for its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SPARES.end)
