"""The store of jobs: one row a job in SQLite, so that jobs survive the server; it holds no value of any row."""

import errno
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

State = Literal["queued", "running", "done", "failed", "cancelled"]
Kind = Literal["anonymize", "protect", "risk", "compare"]
KINDS: tuple[Kind, ...] = ("anonymize", "protect", "risk", "compare")
# How long a call waits for a store that another process has locked.
BUSY_SECONDS = 20.0
# With less room than this, the store cannot be written.
NEEDED_BYTES = 1 << 17
FINAL: tuple[State, ...] = ("done", "failed", "cancelled")
TABLE = """CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL,
  started REAL, finished REAL, expires REAL, stage TEXT, done INTEGER NOT NULL DEFAULT 0,
  whole INTEGER NOT NULL DEFAULT 0, code TEXT, message TEXT, idempotency TEXT, digest TEXT NOT NULL,
  server TEXT, attempts INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, idempotency))"""


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job.

    Attributes:
        owner: Whose it is; nobody else gets to see it.
        stage, done, whole: How far it is.
        code, message: Why it failed.
        digest: Of the request, to tell a repetition from another request under the same idempotency key.
        server: The process that runs it; attempts: how often it was begun.
    """

    id: str
    owner: str
    kind: Kind
    state: State
    created: float
    started: float | None
    finished: float | None
    expires: float | None
    stage: str | None
    done: int
    whole: int
    code: str | None
    message: str | None
    idempotency: str | None
    digest: str
    server: str | None
    attempts: int

    @property
    def ended(self) -> bool:
        return self.state in FINAL


def new_id() -> str:
    """A name that cannot be guessed."""
    return uuid.uuid4().hex


class JobStore:
    """Jobs in a database file; every call opens it anew, so that threads and processes share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        with self._open() as opened:
            opened.execute(TABLE)
        path.chmod(0o600)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._opened() as connection:
                yield connection
        except sqlite3.OperationalError:
            if shutil.disk_usage(self._path.parent).free < NEEDED_BYTES:  # SQLite says it in several ways
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
            raise

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def add(self, job_id: str, owner: str, kind: Kind, digest: str, idempotency: str | None) -> Job:
        """A new job; with an idempotency key that is known, the job that came with it first."""
        with self._open() as connection:
            earlier = _one(connection, "owner = ? AND idempotency = ?", (owner, idempotency)) if idempotency else None
            if earlier is not None:
                return earlier
            connection.execute(
                "INSERT INTO jobs (id, owner, kind, state, created, digest, idempotency) VALUES (?,?,?,'queued',?,?,?)",
                (job_id, owner, kind, time.time(), digest, idempotency),
            )
            return _existing(connection, job_id)

    def find(self, job_id: str) -> Job | None:
        """A job by its name."""
        with self._open() as connection:
            return _one(connection, "id = ?", (job_id,))

    def listed(self, *states: State) -> list[Job]:
        """The jobs in some states, the oldest first."""
        marks = ",".join("?" * len(states))
        with self._open() as connection:
            rows = connection.execute(f"SELECT * FROM jobs WHERE state IN ({marks}) ORDER BY created, id", states)
            return [_job(row) for row in rows.fetchall()]

    def claim(self, server: str) -> Job | None:
        """The oldest job that waits, now running; no two callers get the same."""
        with self._open() as connection:
            job = _one(connection, "state = 'queued' ORDER BY created, id LIMIT 1", ())
            if job is None:
                return None
            connection.execute(
                "UPDATE jobs SET state = 'running', started = ?, server = ?, attempts = attempts + 1 WHERE id = ?",
                (time.time(), server, job.id),
            )
            return _existing(connection, job.id)

    def advance(self, job_id: str, stage: str, done: int, whole: int) -> None:
        """Note how far a running job is."""
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET stage = ?, done = ?, whole = ? WHERE id = ? AND state = 'running'",
                (stage, done, whole, job_id),
            )

    def end(self, job_id: str, state: State, keep: float, code: str | None = None, message: str | None = None) -> bool:
        """Note how a job ended, unless it has ended already."""
        now = time.time()
        with self._open() as connection:
            changed = connection.execute(
                "UPDATE jobs SET state = ?, finished = ?, expires = ?, code = ?, message = ? "
                "WHERE id = ? AND state IN ('queued', 'running')",
                (state, now, now + keep, code, message, job_id),
            )
            return changed.rowcount == 1

    def requeue(self, job_id: str) -> None:
        """Let a running job wait again, to be begun from the start."""
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'queued', started = NULL, stage = NULL, done = 0, whole = 0, server = NULL "
                "WHERE id = ? AND state = 'running'",
                (job_id,),
            )

    def forget(self, job_id: str) -> None:
        """Remove a job."""
        with self._open() as connection:
            connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))


def _one(connection: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> Job | None:
    row = connection.execute(f"SELECT * FROM jobs WHERE {where}", values).fetchone()
    return None if row is None else _job(row)


def _existing(connection: sqlite3.Connection, job_id: str) -> Job:
    job = _one(connection, "id = ?", (job_id,))
    assert job is not None
    return job


def _job(row: sqlite3.Row) -> Job:
    return Job(**dict(row))
