"""What the store needs of a database: short transactions, a clock of its own, and two kinds of faults."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

FILE = "jobs.sqlite"
ADDRESSES = ("postgresql://", "postgres://")
# Step by step from an empty database to what this version needs; a step that was published is never changed.
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


class StoreUnavailableError(Exception):
    """The store does not answer: it is locked for long, or its server is away."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement came to: the rows it reads, or how many it changed."""

    rows: list[dict[str, Any]]
    count: int


class Transaction(Protocol):
    """Statements that hold together, all or none.

    Attributes:
        now: Seconds since 1970 by the clock of the database, the same for all servers that share it.
        for_update: What a query ends with that reads a row in order to change it.
    """

    now: float
    for_update: str

    def run(self, statement: str, values: Sequence[Any] = ()) -> Outcome:
        """Run a statement; `?` stands for a value."""
        ...

    def be_alone(self) -> None:
        """Wait until no other server changes the tables themselves."""
        ...


class Database(Protocol):
    """A database that threads and processes share."""

    def transaction(self, writes: bool = True) -> AbstractContextManager[Transaction]:
        """A transaction.

        Raises:
            StoreUnavailableError: The database does not answer.
            OSError: Its disk is full.
        """
        ...

    def close(self) -> None:
        """Let connections go."""
        ...


def open_database(folder: Path, address: str | None) -> Database:
    """The database at an address, or a file of the folder of jobs, brought to what this version needs."""
    if address is None:
        from sfumato.service.store.sqlite import SqliteDatabase

        database: Database = SqliteDatabase(folder / FILE)
    else:
        from sfumato.service.store.postgres import PostgresDatabase

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
