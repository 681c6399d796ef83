"""A pool of idle databases: opening and closing one takes as long as releasing a small file."""

import atexit
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from sfumato.engines.duckdb.instance import Instance

# So many wait at the most: a release that is written by one database and read by another needs two.
MOST = 2


class Spares:
    """Databases in memory that nobody uses, each with nothing in it."""

    def __init__(self) -> None:
        self._waiting: list[Instance] = []
        self._alone = Lock()

    def take(self, opens: Iterable[Path]) -> Instance | None:
        """One that waits and may open some files and folders, if any does."""
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
        """Have one wait, all of whose sessions are closed; one that is not as it was when it started is ended.

        The one that has waited longest gives way: what comes next most likely opens the files of the latest.
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
        """End those that wait."""
        with self._alone:
            waiting, self._waiting = self._waiting, []
        for instance in waiting:
            instance.close()


SPARES = Spares()
atexit.register(SPARES.end)
# Threads do not come along into a forked process, and a database waits for its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SPARES.end)
