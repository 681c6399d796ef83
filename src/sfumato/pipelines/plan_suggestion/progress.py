"""Progress of a suggestion: its steps, each with its approximate share of the time."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
# Percentages of the time, measured on a million rows of ten columns.
_SHARES = {"count": 40, "look": 20, "compare-columns": 40}
_WHOLE = sum(_SHARES.values())


class ProgressReporter:
    """Reports the current step and the overall progress to a callback.

    >>> ProgressReporter(lambda *told: print(*told)).at("look", 0.5)
    look 50 100
    """

    def __init__(self, tell: ProgressCallback | None = None) -> None:
        self._tell = tell

    def at(self, step: str, part: float = 0.0) -> None:
        """Report that a fraction of a step is done, and all steps before it."""
        if self._tell is not None:
            names = [*_SHARES]
            before = sum(_SHARES[name] for name in names[: names.index(step)])
            self._tell(step, before + round(part * _SHARES[step]), _WHOLE)
