"""The store in PostgreSQL, for servers on several machines, with pooled connections."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue
from typing import Any

from sfumato.errors import PlanError, extra_part
from sfumato.service.store.database import StatementResult, StoreUnavailableError, Transaction

ADDRESSES = ("postgresql://", "postgres://")
CONNECTING_SECONDS = 5
MOST_IDLE = 8
# How long a statement waits for rows that another server has locked.
BUSY_MILLISECONDS = 20_000
# The clock of the database; this query also tests whether a pooled connection is still alive.
CLOCK = "SELECT extract(epoch FROM clock_timestamp())::double precision AS now"
# Servers that start at the same time create the tables one after the other. The number is specific to this program.
START_LOCK = "SELECT pg_advisory_xact_lock(7345018)"


class _Transaction:
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
                yield _Transaction(connection, now)
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
