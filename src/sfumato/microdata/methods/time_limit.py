"""The time limit of a search: a deadline that Python loops query, and a flag that compiled loops read."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic

import numpy as np
import numpy.typing as npt

from sfumato.errors import EngineError

Flag = npt.NDArray[np.int64]
# Seconds past its end in which a search may still finish a first release: without one there is nothing to hand over.
GRACE = 0.6


def out_of_time(seconds: float) -> EngineError:
    """The error for a search that has found nothing to publish by then: nobody knows whether there is something."""
    return EngineError(
        f"The time ({seconds:g} s) ran out before any release was found.",
        "Allow more seconds in method.time_limit, withhold a column, or use method mondrian, which is quicker.",
        "time-limit",
    )


class Deadline:
    """The end of a number of seconds from now.

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
        """Seconds that are left, never less than 0."""
        return max(self.until - monotonic(), 0.0)

    def later(self, seconds: float) -> "Deadline":
        """The deadline some seconds later; from now on where it is over already.

        >>> Deadline(0.0).later(10.0).over
        False
        """
        return Deadline(self.left + seconds)

    @contextmanager
    def flag(self) -> Iterator[Flag]:
        """A flag that is up (1) once the time is over."""
        flag = np.array([int(self.over)], np.int64)
        timer = Timer(min(self.left, 1e6), flag.__setitem__, (0, 1))
        timer.daemon = True
        timer.start()
        try:
            yield flag
        finally:
            timer.cancel()
