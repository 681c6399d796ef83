"""Deadlines measured by a monotonic clock, so that a changed system time neither delays nor hastens erasing."""

import time
from collections.abc import Mapping

# Minimum retention of anything seen for the first time, such as by a new server, because clocks may be wrong.
GRACE_SECONDS = 600.0


class Deadlines:
    """Names with their end times, measured from when a name is first seen."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}

    def over(self, remaining: Mapping[str, float]) -> list[str]:
        """Return the names whose time is over, given the remaining seconds of each when it is first seen."""
        now = time.monotonic()
        self._ends = {name: self._ends.get(name, now + seconds) for name, seconds in remaining.items()}
        return [name for name, end in self._ends.items() if now >= end]


def bounded(remaining: float, keep_seconds: float) -> float:
    """Limit the remaining time by a clock to plausible values.

    >>> bounded(-86400, 7200), bounded(864000, 7200), bounded(3600, 7200)
    (600.0, 7200, 3600)
    """
    return min(max(remaining, GRACE_SECONDS), keep_seconds)
