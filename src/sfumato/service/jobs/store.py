"""Jobs in the store, one row each, so that they survive a restart; and the leases of the servers that run them."""

import os
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any, Literal

from sfumato.localization.messages import Message, from_json, to_json
from sfumato.service.jobs.database import Database, Transaction
from sfumato.values import Value

State = Literal["queued", "running", "done", "failed", "cancelled"]
Kind = Literal["anonymize", "protect", "risk", "compare", "compare-tables"]
KINDS: tuple[Kind, ...] = ("anonymize", "protect", "risk", "compare", "compare-tables")
# Kinds of jobs whose plans are table plans.
OF_TABLES: tuple[Kind, ...] = ("protect", "compare-tables")
FINAL: tuple[State, ...] = ("done", "failed", "cancelled")
STATES: tuple[State, ...] = ("queued", "running", *FINAL)
# The condition for a job that its server still runs, by id, server and attempt.
RUNNING = "id = ? AND state = 'running' AND server = ? AND attempts = ?"


class Job(Value):
    """A job in the store.

    Attributes:
        owner: Its owner, the only user with access.
        stage: The current stage, or None.
        done: The amount done in this stage.
        whole: The total amount of this stage.
        code: The error code, or None.
        message: The error message, or None.
        digest: The digest of the request, which distinguishes repetitions from other requests with the same idempotency
            key.
        server: The lease of the server that runs it, or None.
        attempts: How often it was started.
        bytes: The size of its files.
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
    bytes: int

    @property
    def ended(self) -> bool:
        return self.state in FINAL


class Ending(Value):
    """How a job ends: its state, its error, its retention, and the size of its remaining files."""

    state: State
    keep_seconds: float
    code: str | None = None
    message: Message | None = None
    bytes: int = 0


def new_id() -> str:
    """Return an unguessable id."""
    return uuid.uuid4().hex


class JobStore:
    """Jobs in a database that servers share.

    A running job belongs to the lease of one server and to one attempt. An update counts only while both are current: a
    server that was considered dead and returns changes nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, job_id: str, owner: str, kind: Kind, digest: str, idempotency: str | None = None, size: int = 0
    ) -> Job:
        """Add a job; for a known idempotency key, return the first job with it."""
        with self._database.transaction() as transaction:
            transaction.run(
                "INSERT INTO jobs (id, owner, kind, state, created, digest, idempotency, bytes) "
                "VALUES (?, ?, ?, 'queued', ?, ?, ?, ?) ON CONFLICT (owner, idempotency) DO NOTHING",
                (job_id, owner, kind, transaction.now, digest, idempotency, size),
            )
            job = _one(transaction, "id = ?", (job_id,))
            return job or _existing(transaction, "owner = ? AND idempotency = ?", (owner, idempotency))

    def find(self, job_id: str) -> Job | None:
        """Return a job by its id, or None."""
        with self._database.transaction(writes=False) as transaction:
            return _one(transaction, "id = ?", (job_id,))

    def listed(self, *states: State) -> list[Job]:
        """Return the jobs in some states, the oldest first."""
        marks = ",".join("?" * len(states))
        return self._several(f"state IN ({marks}) ORDER BY created, id", states)

    def of_owner(self, owner: str | None, most: int, before: float | None = None) -> list[Job]:
        """Return the last jobs of an owner, or of all, the newest first; `before`: those created before a time."""
        whose = ("", ()) if owner is None else ("owner = ? AND ", (owner,))
        values = (*whose[1], float("inf") if before is None else before, most)
        return self._several(f"{whose[0]}created < ? ORDER BY created DESC, id LIMIT ?", values)

    def orphans(self) -> list[Job]:
        """Return running jobs whose server has no lease any more."""
        return self._several("state = 'running' AND server NOT IN (SELECT id FROM leases)", ())

    def running_on(self, server: str) -> set[tuple[str, int]]:
        """Return ids and attempts of the jobs that a server runs."""
        return {(job.id, job.attempts) for job in self._several("state = 'running' AND server = ?", (server,))}

    def _several(self, where: str, values: tuple[Any, ...]) -> list[Job]:
        with self._database.transaction(writes=False) as transaction:
            return [_job(row) for row in transaction.run(f"SELECT * FROM jobs WHERE {where}", values).rows]

    def counts(self) -> dict[State, int]:
        """Return the number of jobs in each state."""
        with self._database.transaction(writes=False) as transaction:
            rows = transaction.run("SELECT state, count(*) AS number FROM jobs GROUP BY state").rows
        return dict.fromkeys(STATES, 0) | {row["state"]: row["number"] for row in rows}

    def longest_wait(self) -> float:
        """Return how many seconds the oldest queued job has waited."""
        with self._database.transaction(writes=False) as transaction:
            rows = transaction.run("SELECT min(created) AS first FROM jobs WHERE state = 'queued'").rows
            return max(0.0, transaction.now - rows[0]["first"]) if rows[0]["first"] is not None else 0.0

    def use_of(self, owner: str) -> tuple[int, int]:
        """Return the usage of an owner: jobs that have not ended, and bytes of all jobs."""
        with self._database.transaction(writes=False) as transaction:
            rows = transaction.run("SELECT state, bytes FROM jobs WHERE owner = ?", (owner,)).rows
        return sum(row["state"] not in FINAL for row in rows), sum(row["bytes"] for row in rows)

    def remaining(self) -> dict[str, float]:
        """Return the seconds until results of ended jobs expire, by the store's clock."""
        with self._database.transaction(writes=False) as transaction:
            rows = transaction.run("SELECT id, expires FROM jobs WHERE expires IS NOT NULL").rows
            return {row["id"]: row["expires"] - transaction.now for row in rows}

    def claim(self, server: str) -> Job | None:
        """Assign the oldest queued job to a server with a lease, and return it; no two callers get the same."""
        with self._database.transaction(writes=False) as transaction:
            if _one(transaction, "state = 'queued' LIMIT 1", ()) is None:
                return None
        with self._database.transaction() as transaction:
            waiting = "state = 'queued' AND EXISTS (SELECT 1 FROM leases WHERE id = ?) ORDER BY created, id LIMIT 1"
            job = _one(transaction, waiting + transaction.for_update, (server,))
            if job is None:
                return None
            transaction.run(
                "UPDATE jobs SET state = 'running', started = ?, server = ?, attempts = attempts + 1 WHERE id = ?",
                (transaction.now, server, job.id),
            )
            return _existing(transaction, "id = ?", (job.id,))

    def advance(self, job: Job, stage: str, done: int, whole: int) -> bool:
        """Record the progress of a running job, and return whether it still belongs to this server."""
        return self._change(
            "stage = ?, done = ?, whole = ?", (to_json(stage, indent=None), done, whole), RUNNING, _run(job)
        )

    def conclude(self, job: Job, ending: Ending, before: Callable[[], None] = lambda: None) -> bool:
        """Record how a job ended, if it still belongs to this server; `before` is called in the same transaction."""
        return self._end(ending, RUNNING, _run(job), before)

    def cancel(self, job_id: str, keep_seconds: float) -> bool:
        """Cancel a job unless it has ended."""
        where = "id = ? AND state IN ('queued', 'running')"
        return self._end(Ending("cancelled", keep_seconds), where, (job_id,), lambda: None)

    def _end(self, ending: Ending, where: str, values: tuple[Any, ...], before: Callable[[], None]) -> bool:
        columns = "state = ?, finished = ?, expires = ?, code = ?, message = ?, bytes = ?"
        with self._database.transaction() as transaction:
            end = (ending.state, transaction.now, transaction.now + ending.keep_seconds)
            rest = (ending.code, ending.message and to_json(ending.message, indent=None), ending.bytes)
            changed = transaction.run(f"UPDATE jobs SET {columns} WHERE {where}", (*end, *rest, *values))
            if changed.count:
                before()
            return changed.count == 1

    def requeue(self, job: Job) -> bool:
        """Queue a running job again, to be restarted."""
        columns = "state = 'queued', started = NULL, stage = NULL, done = 0, whole = 0, server = NULL"
        return self._change(columns, (), RUNNING, _run(job))

    def _change(self, columns: str, news: tuple[Any, ...], where: str, values: tuple[Any, ...]) -> bool:
        with self._database.transaction() as transaction:
            return transaction.run(f"UPDATE jobs SET {columns} WHERE {where}", (*news, *values)).count == 1

    def forget(self, job_id: str) -> None:
        """Remove a job."""
        with self._database.transaction() as transaction:
            transaction.run("DELETE FROM jobs WHERE id = ?", (job_id,))


def _run(job: Job) -> tuple[Any, ...]:
    return (job.id, job.server, job.attempts)


def _job(row: dict[str, Any]) -> Job:
    """Return the job of a row; its texts are stored with their codes, so that every page shows its own language."""
    texts = {name: row[name] and from_json(row[name]) for name in ("stage", "message")}
    return Job(**row | texts)


def _one(transaction: Transaction, where: str, values: tuple[Any, ...]) -> Job | None:
    rows = transaction.run(f"SELECT * FROM jobs WHERE {where}", values).rows
    return _job(rows[0]) if rows else None


def _existing(transaction: Transaction, where: str, values: tuple[Any, ...]) -> Job:
    job = _one(transaction, where, values)
    assert job is not None
    return job


# Number of beats of a server within the duration of a lease.
BEATS = 6


class _Silence(Value):
    """The last beat seen, and for how many seconds it has not changed."""

    beat: int
    seconds: float = 0.0


class Leases:
    """The lease of this server, and its observations of others.

    A lease expires if its entry in the store has not changed for some time while the store was reachable. Each server
    measures this time with its own monotonic clock. No clocks are compared and no processes are inspected, so leases
    work across containers and machines, and a clock change ends none.

    Attributes:
        id: The id of this server's lease.
        beat_seconds: The interval between renewals.
    """

    def __init__(self, database: Database, seconds: float) -> None:
        self._database, self._seconds = database, seconds
        self.id = new_id()
        self.beat_seconds = seconds / BEATS
        self._silences: dict[str, _Silence] = {}
        self._looked = self._renewed = time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """Seconds since the last successful renewal of this server."""
        return time.monotonic() - self._renewed

    def renew(self) -> bool:
        """Renew the lease, and return whether it still existed or had to be created again."""
        with self._database.transaction() as transaction:
            own = "UPDATE leases SET beat = beat + 1, seen = ? WHERE id = ?"
            kept = transaction.run(own, (transaction.now, self.id)).count == 1
            if not kept:
                place = (self.id, socket.gethostname(), os.getpid(), transaction.now)
                transaction.run("INSERT INTO leases (id, host, process, beat, seen) VALUES (?, ?, ?, 0, ?)", place)
        self._renewed = time.monotonic()
        return kept

    def drop(self) -> None:
        """Delete the lease of this server."""
        with self._database.transaction() as transaction:
            transaction.run("DELETE FROM leases WHERE id = ?", (self.id,))

    def live(self) -> set[str]:
        """Return the ids of all leases."""
        return set(self._beats())

    def end_silent(self) -> None:
        """Observe other leases, and end those that have been silent for too long."""
        beats, elapsed = self._beats(), self._elapsed()
        silences = {name: self._silence(name, beat, elapsed) for name, beat in beats.items() if name != self.id}
        gone = {name: silence for name, silence in silences.items() if silence.seconds >= self._seconds}
        self._silences = {name: silence for name, silence in silences.items() if name not in gone}
        for name, silence in gone.items():
            with self._database.transaction() as transaction:
                transaction.run("DELETE FROM leases WHERE id = ? AND beat = ?", (name, silence.beat))

    def _beats(self) -> dict[str, int]:
        with self._database.transaction(writes=False) as transaction:
            return {row["id"]: row["beat"] for row in transaction.run("SELECT id, beat FROM leases").rows}

    def _elapsed(self) -> float:
        """Return the seconds since the last observation, limited in case of a pause that affected others, too."""
        now = time.monotonic()
        elapsed, self._looked = now - self._looked, now
        return min(elapsed, 2 * self.beat_seconds)

    def _silence(self, name: str, beat: int, elapsed: float) -> _Silence:
        before = self._silences.get(name)
        if before is None or before.beat != beat:
            return _Silence(beat)
        return _Silence(beat, before.seconds + elapsed)
