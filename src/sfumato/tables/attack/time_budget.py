"""Estimate how long the intervals of a table take, so that none is begun that cannot be finished in time."""

import time
from types import TracebackType

from sfumato.tables.deadline import Deadline

# Seconds of computing intervals after which the time per interval is estimated.
TRIAL = 0.5


class Pace:
    """The time that intervals took so far, and whether enough is left for the rest."""

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
        """Whether intervals that are not required are skipped; once true, it stays true."""
        if not self._hurried:
            late = self._seconds > TRIAL and self._seconds / self._done * self._left > self._deadline.left
            self._hurried = late or self._deadline.over
        return self._hurried
