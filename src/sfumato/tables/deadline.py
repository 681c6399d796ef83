"""When a search must return its best result so far: at a time limit, or when cancelled."""

import math
import time
from collections.abc import Callable

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError

# Seconds past its end in which a search may still finish a first pattern: without one there is nothing to hand over.
GRACE = 0.8
FASTER = "Allow more seconds in method.time_limit, or use method fast."


def never() -> bool:
    """Nobody asks."""
    return False


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the clock, and somebody who may ask earlier.

    Attributes:
        end: The moment, by `time.monotonic`.
        asked: Whether somebody asks for what there is.
    """

    end: float = math.inf
    asked: Callable[[], bool] = never

    @property
    def left(self) -> float:
        """Seconds left; none when somebody asks."""
        return 0.0 if self.asked() else max(self.end - time.monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.left <= 0.0

    def share(self, part: float) -> "Deadline":
        """An earlier one: after a part of the seconds left.

        >>> 40 < Deadline(time.monotonic() + 100).share(0.5).left <= 50
        True
        """
        return self if math.isinf(self.end) else Deadline(time.monotonic() + self.left * part, self.asked)

    def earlier(self, seconds: float) -> "Deadline":
        """The same some seconds earlier.

        >>> within(5.0).earlier(10).over
        True
        """
        return Deadline(self.end - seconds, self.asked)

    def later(self, seconds: float) -> "Deadline":
        """The same some seconds later, for what must be finished; nobody who asks cuts it short.

        >>> within(0.0).later(10).over
        False
        """
        return Deadline(max(self.end, time.monotonic()) + seconds)


FOREVER = Deadline()


def within(seconds: float, asked: Callable[[], bool] = never) -> Deadline:
    """The deadline in so many seconds.

    >>> within(0.0).over
    True
    """
    return Deadline(time.monotonic() + seconds, asked)


def out_of_time(withstood: int, attacks: int, fast: bool = False) -> UnattainableError:
    """The error for a search, the fast one or another, that has no safe pattern when its time is over."""
    more = "Allow more seconds in method.time_limit." if fast else FASTER
    return UnattainableError(
        f"the time was over before a safe pattern was there: {withstood:,} of {attacks:,} attacks are withstood.",
        more,
        "time-limit",
    )
