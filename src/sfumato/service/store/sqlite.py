"""The store in an SQLite file, for servers on one machine; every call opens it."""

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sfumato.service.store.database import StatementResult, StoreUnavailableError, Transaction

# Minimum free space for writing to the store.
NEEDED_BYTES = 1 << 17


class _Transaction:
    for_update = ""  # a writer locks the whole file

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.now = time.time()

    def run(self, statement: str, values: Sequence[Any] = ()) -> StatementResult:
        cursor = self._connection.execute(statement, values)
        return StatementResult([dict(row) for row in cursor.fetchall()], cursor.rowcount)

    def be_alone(self) -> None:
        """Do nothing, because a writer is alone anyway."""


class SqliteDatabase:
    """A database file that only this user can read; a call waits for a limited time if the file is locked."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._path, self._busy_seconds = path, busy_seconds
        with self._translated(), self._connection() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        path.chmod(0o600)

    def close(self) -> None:
        """Do nothing, because nothing stays open between calls."""

    @contextmanager
    def transaction(self, writes: bool = True) -> Iterator[Transaction]:
        """Run a transaction; a writer is alone, a reader does not wait."""
        with self._translated(), self._connection() as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                yield _Transaction(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=self._busy_seconds, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            full = "full" in str(error) or shutil.disk_usage(self._path.parent).free < NEEDED_BYTES
            if full:  # SQLite reports it in several ways
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
            raise StoreUnavailableError(type(error).__name__) from None
