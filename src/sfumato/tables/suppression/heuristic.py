"""Fast suppression for large tables: a good protected pattern, without a proof that none is cheaper."""

import time

import numpy as np

from sfumato.tables.deadline import GRACE, Deadline, out_of_time
from sfumato.tables.suppression.initial_pattern import InitialPattern
from sfumato.tables.suppression.patterns import Pattern, PatternSearch, patience_of
from sfumato.tables.suppression.problem import SuppressionProblem
from sfumato.tables.suppression.pruning import SuppressionPruning
from sfumato.tables.suppression.suppression import ProgressCallback, SuppressionResult, witnesses_of

# Seconds between two words about how far it is.
PAUSE = 1.0


def fast(
    problem: SuppressionProblem,
    deadline: Deadline | None = None,
    progress: ProgressCallback | None = None,
    start: InitialPattern | None = None,
) -> SuppressionResult:
    """A protected pattern from cheapest flows, pruned as far as the time allows; its bound is the trivial one.

    Args:
        deadline: When the search ends.
        progress: Told how far it is.
        start: A pattern to start from.

    Raises:
        UnattainableError: A cell cannot be protected whatever is masked, or not within the time.
    """
    end, tell = deadline or Deadline(), _Teller(progress, len(problem.threats))
    parts = list(problem.components())
    patterns = [_protected(part, end, tell, start) for part in parts]
    masked, witnesses, weight = problem.forced.copy(), [], sum(part.size for part in parts)
    for part, rough in zip(parts, patterns, strict=True):
        share = end.share(part.size / weight)
        weight -= part.size
        pattern = Pattern(*SuppressionPruning(part, rough.masked, rough.proofs).run(share, tell.pruned))
        masked[np.searchsorted(problem.places, part.places)] = pattern.masked
        witnesses += witnesses_of(part, pattern)
    return SuppressionResult(masked, problem.cost_of(masked), 0.0, problem.places, tuple(witnesses))


def _protected(part: SuppressionProblem, end: Deadline, tell: "_Teller", start: InitialPattern | None) -> Pattern:
    search = PatternSearch(part)
    masked = part.forced if start is None else search.remember(start)
    pattern = search.protect(masked, end.later(GRACE), tell=tell.withstood, patience=patience_of(part, end))
    if pattern is None:
        raise out_of_time(tell.done, tell.attacks, fast=True)
    return pattern


class _Teller:
    """Says now and then how far a search is."""

    def __init__(self, progress: ProgressCallback | None, attacks: int) -> None:
        self._progress, self._last = progress, time.monotonic()
        self.attacks, self.done = attacks, 0

    def withstood(self) -> None:
        """One more attack is withstood."""
        self.done += 1
        self._say(f"{self.done:,} of {self.attacks:,} attacks withstood")

    def pruned(self, left: int) -> None:
        """So many masked cells are still to be tried."""
        self._say(f"{left:,} masked cells to be tried again")

    def _say(self, text: str) -> None:
        if self._progress is not None and time.monotonic() - self._last > PAUSE:
            self._last = time.monotonic()
            self._progress(text)
