"""Leases: every server renews an entry in the store at intervals; a server that stops renewing is considered dead.

No clocks are compared and no processes are inspected, so this also works across containers and machines, and a clock
change ends no lease. Each server measures with its own monotonic clock how long the entry of another one has not
changed while the store was reachable.
"""

import os
import socket
import time

from sfumato.dataclass import dataclass
from sfumato.service.store.database import Database
from sfumato.service.store.jobs import new_id

# How many times a server beats within the time that a lease lasts.
BEATS = 6


@dataclass(frozen=True, slots=True)
class _Silence:
    """A beat as it was last seen, and for how many seconds it has been the same."""

    beat: int
    seconds: float = 0.0


class Leases:
    """The lease of this server, and what it sees of others.

    Attributes:
        id: The name of this server's lease.
        beat_seconds: How often it is to be renewed.
    """

    def __init__(self, database: Database, seconds: float) -> None:
        self._database, self._seconds = database, seconds
        self.id = new_id()
        self.beat_seconds = seconds / BEATS
        self._silences: dict[str, _Silence] = {}
        self._looked = self._renewed = time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """How long ago this server could last say that it is there."""
        return time.monotonic() - self._renewed

    def renew(self) -> bool:
        """Say that this server is there; whether its lease still was, or had to be taken anew."""
        with self._database.transaction() as transaction:
            own = "UPDATE leases SET beat = beat + 1, seen = ? WHERE id = ?"
            kept = transaction.run(own, (transaction.now, self.id)).count == 1
            if not kept:
                place = (self.id, socket.gethostname(), os.getpid(), transaction.now)
                transaction.run("INSERT INTO leases (id, host, process, beat, seen) VALUES (?, ?, ?, 0, ?)", place)
        self._renewed = time.monotonic()
        return kept

    def drop(self) -> None:
        """Say that this server goes."""
        with self._database.transaction() as transaction:
            transaction.run("DELETE FROM leases WHERE id = ?", (self.id,))

    def live(self) -> set[str]:
        """The names of all leases."""
        return set(self._beats())

    def end_silent(self) -> None:
        """Look at the others, and end the leases of those that have been silent for too long."""
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
        """Seconds since the last look; a long pause, in which perhaps nobody could beat, counts as a short one."""
        now = time.monotonic()
        elapsed, self._looked = now - self._looked, now
        return min(elapsed, 2 * self.beat_seconds)

    def _silence(self, name: str, beat: int, elapsed: float) -> _Silence:
        before = self._silences.get(name)
        if before is None or before.beat != beat:
            return _Silence(beat)
        return _Silence(beat, before.seconds + elapsed)
