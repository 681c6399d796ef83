"""Estimate how long the intervals of a table take, so that none is begun that cannot be finished in time."""

import time
from types import TracebackType

from sfumato.tables.deadline import Deadline

# After so many seconds it is known how long one range takes.
TRIAL = 0.5


class Pace:
    """The seconds that ranges took so far, and whether there is time for the rest."""

    def __init__(self, deadline: Deadline, ranges: int) -> None:
        self._deadline, self._left = deadline, ranges
        self._done, self._seconds, self._start = 0, 0.0, 0.0
        self._hurried = False

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._seconds += time.monotonic() - self._start
        self._done, self._left = self._done + 1, self._left - 1

    @property
    def hurried(self) -> bool:
        """Whether ranges are left out that need not be computed; once so, for good."""
        if not self._hurried:
            late = self._seconds > TRIAL and self._seconds / self._done * self._left > self._deadline.left
            self._hurried = late or self._deadline.over
        return self._hurried
