"""The databases of the job store: SQLite on one machine, PostgreSQL for several; short transactions and a clock."""

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any, Protocol

from sfumato.errors import PlanError, extra_part
from sfumato.values import Value


class StoreUnavailableError(Exception):
    """Raised if the store does not answer: it is locked for long, or its server is unavailable."""


class StatementResult(Value):
    """The result of a statement: the rows it reads, or how many it changed."""

    rows: list[dict[str, Any]]
    count: int


class Transaction(Protocol):
    """Statements that are executed all or none.

    Attributes:
        now: Seconds since 1970 by the clock of the database, the same for all servers that share it.
        for_update: The ending of a query that reads a row in order to change it.
    """

    now: float
    for_update: str

    def run(self, statement: str, values: Sequence[Any] = ()) -> StatementResult:
        """Run a statement; `?` is a placeholder for a value."""
        ...

    def be_alone(self) -> None:
        """Wait until no other server changes the tables themselves."""
        ...


class Database(Protocol):
    """A database shared by threads and processes."""

    def transaction(self, writes: bool = True) -> AbstractContextManager[Transaction]:
        """Begin a transaction.

        Raises:
            StoreUnavailableError: The database does not answer.
            OSError: Its disk is full.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


# Minimum free space for writing to the store.
NEEDED_BYTES = 1 << 17


class _SqliteTransaction:
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
                yield _SqliteTransaction(connection)
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


ADDRESSES = ("postgresql://", "postgres://")
CONNECTING_SECONDS = 5
MOST_IDLE = 8
# How long a statement waits for rows that another server has locked.
BUSY_MILLISECONDS = 20_000
# The clock of the database; this query also tests whether a pooled connection is still alive.
CLOCK = "SELECT extract(epoch FROM clock_timestamp())::double precision AS now"
# Servers that start at the same time create the tables one after the other. The number is specific to this program.
START_LOCK = "SELECT pg_advisory_xact_lock(7345018)"


class _PostgresTransaction:
    for_update = " FOR UPDATE SKIP LOCKED"

    def __init__(self, connection: Any, now: float) -> None:
        self._connection, self.now = connection, now

    def run(self, statement: str, values: Sequence[Any] = ()) -> StatementResult:
        cursor = self._connection.execute(statement.replace("?", "%s"), tuple(values))
        return StatementResult(cursor.fetchall() if cursor.description else [], cursor.rowcount)

    def be_alone(self) -> None:
        self._connection.execute(START_LOCK)


class PostgresDatabase:
    """A database at an address.

    Raises:
        PlanError: The address is not that of a PostgreSQL database.
    """

    def __init__(self, address: str) -> None:
        with extra_part("psycopg", "postgres"):
            import psycopg
        if not address.startswith(ADDRESSES):
            raise PlanError("store")
        self._address, self._psycopg = address, psycopg
        self._idle: LifoQueue[Any] = LifoQueue(MOST_IDLE)

    def close(self) -> None:
        """Close the idle connections."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    @contextmanager
    def transaction(self, writes: bool = True) -> Iterator[Transaction]:
        """Run a transaction; one that only reads does not wait for others."""
        with self._translated():
            connection, now = self._begun()
            try:
                yield _PostgresTransaction(connection, now)
            except BaseException:
                with suppress(self._psycopg.Error):
                    connection.rollback()
                self._put_back(connection)
                raise
            connection.commit() if writes else connection.rollback()
            self._put_back(connection)

    def _begun(self) -> tuple[Any, float]:
        """Return a connection in a transaction; a broken one is replaced."""
        with suppress(Empty):
            while True:
                kept = self._idle.get_nowait()
                try:
                    return kept, self._now(kept)
                except self._psycopg.OperationalError:
                    kept.close()
        connection = self._connected()
        return connection, self._now(connection)

    def _connected(self) -> Any:
        return self._psycopg.connect(
            self._address,
            connect_timeout=CONNECTING_SECONDS,
            row_factory=self._psycopg.rows.dict_row,
            options=f"-c lock_timeout={BUSY_MILLISECONDS} -c statement_timeout={2 * BUSY_MILLISECONDS}",
            application_name="sfumato",
        )

    @staticmethod
    def _now(connection: Any) -> float:
        return float(connection.execute(CLOCK).fetchone()["now"])

    def _put_back(self, connection: Any) -> None:
        if connection.closed or self._idle.full():
            connection.close()
        else:
            self._idle.put_nowait(connection)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.errors.DiskFull:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        except self._psycopg.Error as error:
            raise StoreUnavailableError(type(error).__name__) from None


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
