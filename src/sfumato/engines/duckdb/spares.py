"""A pool of idle databases: opening and closing one takes as long as releasing a small file."""

import atexit
import os
from threading import Lock
from typing import Any

from sfumato.confinement import allowed
from sfumato.engines.duckdb.library import compiled

# So many wait at the most: a release that is written by one database and read by another needs two.
MOST = 2
# Where rows went to the disk, the first of these fails; a database that is attached shows in the last.
CLEANING = "SET temp_directory = ''; RESET threads; SELECT count(*) FROM duckdb_databases() WHERE NOT internal"
# The same in a process that is confined, whose databases keep their folder.
CLEANING_CONFINED = """RESET threads; SELECT count(*) + (SELECT count(*) FROM duckdb_temporary_files())
FROM duckdb_databases() WHERE NOT internal"""


class Spares:
    """Databases in memory that nobody uses, each with nothing in it."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []
        self._alone = Lock()

    def take(self) -> Any | None:
        """One that waits, if any does."""
        with self._alone:
            return self._waiting.pop() if self._waiting else None

    def keep(self, connection: Any) -> None:
        """Have one wait, all of whose sessions are closed; one that is not as it was when it started is ended."""
        if not self._kept(connection):
            connection.close()

    def _kept(self, connection: Any) -> bool:
        if not _clean(connection):
            return False
        with self._alone:
            if len(self._waiting) < MOST:
                self._waiting.append(connection)
                return True
        return False

    def end(self) -> None:
        """End those that wait."""
        while (connection := self.take()) is not None:
            connection.close()


def _clean(connection: Any) -> bool:
    """Whether a database is now as it was when it started: tables and types went with the sessions that made them."""
    try:
        cleaning = CLEANING if allowed() is None else CLEANING_CONFINED
        return bool(connection.execute(cleaning).fetchall() == [(1,)])
    except compiled().Error:
        return False


SPARES = Spares()
atexit.register(SPARES.end)
# Threads do not come along into a forked process, and a database waits for its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SPARES.end)
