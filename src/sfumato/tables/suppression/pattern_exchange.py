"""Improve patterns by ruin and recreate: remove some suppressions at random, and protect again what that opens.

After Schrimpf et al. 2000, doi:10.1006/jcph.1999.6413: the new suppressions differ because prices vary at random, and
superfluous ones are removed. A pattern is kept if it is not more expensive.
"""

from itertools import cycle

import numpy as np

from sfumato.tables.cells.cells import BoolArray
from sfumato.tables.deadline import Deadline
from sfumato.tables.suppression.patterns import Pattern, PatternSearch

# How many secondary masks are taken away, in turn, about; no larger share of them than the next; and by how much at
# most chance makes a cell cheaper.
TAKEN, MOST, WHIM = (12, 20, 6, 16), 0.5, 0.8
# So many exchanges without a cheaper pattern are enough.
PATIENCE = 30


class Exchange:
    """Exchanges masks of the patterns of one problem; the same seed, the same exchanges."""

    def __init__(self, search: PatternSearch) -> None:
        self._search, self._problem = search, search.problem
        self._chance = np.random.default_rng(0)
        self._taken = cycle(TAKEN)

    def improved(self, pattern: Pattern, deadline: Deadline) -> Pattern:
        """A pattern that is no dearer, by exchanges until the time is over or they lead nowhere."""
        best, least, vain = pattern, self._problem.cost_of(pattern.masked), 0
        while vain < PATIENCE and not deadline.over:
            other = self._exchanged(best.masked, deadline)
            cost = np.inf if other is None else self._problem.cost_of(other.masked)
            vain = 0 if cost < least - 1e-9 else vain + 1
            if other is not None and cost <= least:
                best, least = other, cost
        return best

    def _exchanged(self, masked: BoolArray, deadline: Deadline) -> Pattern | None:
        """A pattern near another one; None when the time is over before it is protected."""
        size = self._problem.size
        secondary = max(int(np.count_nonzero(masked & ~self._problem.forced)), 1)
        share = min(next(self._taken) / secondary, MOST)
        start = masked & (self._chance.random(size) >= share)
        rough = self._search.protect(start, deadline, self._chance.random(size) * WHIM)
        return None if rough is None else self._search.pruned(rough, deadline)
