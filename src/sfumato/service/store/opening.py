"""Open the store: a file in the folder of jobs, or a database by address; migrate it to this version."""

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sfumato.service.store.database import Database, Outcome, StoreUnavailableError, Transaction
from sfumato.service.store.postgres import PostgresDatabase

# Minimum free space for writing to the store.
NEEDED_BYTES = 1 << 17
FILE = "jobs.sqlite"
BUSY_SECONDS = 20.0
# Migration steps from an empty database to this version; a published step is never changed.
STEPS = (
    """CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,
  started DOUBLE PRECISION, finished DOUBLE PRECISION, expires DOUBLE PRECISION, stage TEXT,
  done BIGINT NOT NULL DEFAULT 0, whole BIGINT NOT NULL DEFAULT 0, code TEXT, message TEXT, idempotency TEXT,
  digest TEXT NOT NULL, server TEXT, attempts BIGINT NOT NULL DEFAULT 0, UNIQUE (owner, idempotency))""",
    "ALTER TABLE jobs ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
    """CREATE TABLE leases (
  id TEXT PRIMARY KEY, host TEXT NOT NULL, process BIGINT NOT NULL, beat BIGINT NOT NULL,
  seen DOUBLE PRECISION NOT NULL)""",
)


def open_database(folder: Path, address: str | None, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Open the database at an address, or a file in the folder of jobs, and migrate it to this version.

    Args:
        folder: The folder of jobs.
        address: The address of a database of several machines.
        busy_seconds: How long a call waits for a file that another process has locked.
    """
    if address is None:
        database: Database = SqliteDatabase(folder / FILE, busy_seconds)
    else:
        database = PostgresDatabase(address)
    with database.transaction() as transaction:
        _upgrade(transaction)
    return database


def _upgrade(transaction: Transaction) -> None:
    transaction.be_alone()
    transaction.run("CREATE TABLE IF NOT EXISTS steps (done BIGINT NOT NULL)")
    rows = transaction.run("SELECT done FROM steps").rows
    if not rows:
        transaction.run("INSERT INTO steps (done) VALUES (0)")
    for step in STEPS[rows[0]["done"] if rows else 0 :]:
        transaction.run(step)
    transaction.run("UPDATE steps SET done = ? WHERE done < ?", (len(STEPS), len(STEPS)))


class _Transaction:
    for_update = ""  # a writer locks the whole file

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.now = time.time()

    def run(self, statement: str, values: Sequence[Any] = ()) -> Outcome:
        cursor = self._connection.execute(statement, values)
        return Outcome([dict(row) for row in cursor.fetchall()], cursor.rowcount)

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
