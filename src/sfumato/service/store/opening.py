"""Open the store: a file in the folder of jobs, or a database by address; migrate it to this version."""

from pathlib import Path

from sfumato.service.store.database import Database, Transaction
from sfumato.service.store.postgres import PostgresDatabase
from sfumato.service.store.sqlite import SqliteDatabase

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
