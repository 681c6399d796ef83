"""The time limit of a search: a deadline that Python loops query, and a flag that compiled loops read."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic

import numpy as np
import numpy.typing as npt

from sfumato.errors import EngineError

Flag = npt.NDArray[np.int64]
# Extra seconds in which a search may still finish a first release, because without one it has no result.
GRACE = 0.6


def out_of_time(seconds: float) -> EngineError:
    """Return the error of a search that timed out without a result: it is unknown whether one exists."""
    return EngineError("time-limit", seconds=seconds)


class Deadline:
    """A deadline some seconds from now.

    >>> Deadline(0.0).over, Deadline(60.0).over
    (True, False)
    """

    __slots__ = ("until",)

    def __init__(self, seconds: float) -> None:
        self.until = monotonic() + seconds

    @property
    def over(self) -> bool:
        return monotonic() >= self.until

    @property
    def left(self) -> float:
        """Remaining seconds, never less than 0."""
        return max(self.until - monotonic(), 0.0)

    def later(self, seconds: float) -> "Deadline":
        """Return the deadline extended by some seconds; counted from now if it is already over.

        >>> Deadline(0.0).later(10.0).over
        False
        """
        return Deadline(self.left + seconds)

    @contextmanager
    def flag(self) -> Iterator[Flag]:
        """Yield a flag that is set (1) once the time is over."""
        flag = np.array([int(self.over)], np.int64)
        timer = Timer(min(self.left, 1e6), flag.__setitem__, (0, 1))
        timer.daemon = True
        timer.start()
        try:
            yield flag
        finally:
            timer.cancel()
