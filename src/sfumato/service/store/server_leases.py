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

# Number of beats of a server within the duration of a lease.
BEATS = 6


@dataclass(frozen=True, slots=True)
class _Silence:
    """The last beat seen, and for how many seconds it has not changed."""

    beat: int
    seconds: float = 0.0


class Leases:
    """The lease of this server, and its observations of others.

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
