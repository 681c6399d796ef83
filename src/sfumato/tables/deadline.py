"""When a search must return its best result so far: at a time limit, or when cancelled."""

import math
import time
from collections.abc import Callable

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.values import Value

# Seconds after the end in which a search may still complete its first pattern; without one there is no result.
GRACE = 0.8


def never() -> bool:
    """Return False: no one asks for cancellation."""
    return False


class Deadline(Value):
    """A point in time, and a callback that may ask for the result earlier.

    Attributes:
        end: The time, by `time.monotonic`.
        asked: Returns whether the current result is requested now.
    """

    end: float = math.inf
    asked: Callable[[], bool] = never

    @property
    def left(self) -> float:
        """Seconds left; 0 if the result is requested."""
        return 0.0 if self.asked() else max(self.end - time.monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.left <= 0.0

    def share(self, part: float) -> "Deadline":
        """Return an earlier deadline: after a part of the seconds left.

        >>> 40 < Deadline(time.monotonic() + 100).share(0.5).left <= 50
        True
        """
        return self if math.isinf(self.end) else Deadline(time.monotonic() + self.left * part, self.asked)

    def earlier(self, seconds: float) -> "Deadline":
        """Return the deadline moved earlier by some seconds.

        >>> within(5.0).earlier(10).over
        True
        """
        return Deadline(self.end - seconds, self.asked)

    def later(self, seconds: float) -> "Deadline":
        """Return the deadline moved later by some seconds, for work that must be finished; it ignores
        cancellation.

        >>> within(0.0).later(10).over
        False
        """
        return Deadline(max(self.end, time.monotonic()) + seconds)


FOREVER = Deadline()


def within(seconds: float, asked: Callable[[], bool] = never) -> Deadline:
    """Return the deadline in this many seconds.

    >>> within(0.0).over
    True
    """
    return Deadline(time.monotonic() + seconds, asked)


def out_of_time(withstood: int, attacks: int, fast: bool = False) -> UnattainableError:
    """Return the error for a search that has no protected pattern when its time is over."""
    more = (
        Message("error.part.allow_more_seconds_in_methodtimelimit")
        if fast
        else Message("error.part.allow_more_seconds_in_method")
    )
    return UnattainableError("time-limit.the_time_was_over_before", hint=more, count=withstood, total=attacks)
