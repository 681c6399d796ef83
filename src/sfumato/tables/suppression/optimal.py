"""Optimal suppression: the cheapest pattern that protects against every attacker, with a proof.

A master program over binary cell variables alternates with the attackers' linear programs: the master proposes a
pattern, each attacker that succeeds answers with a cut, until none does (Fischetti and Salazar-González 2001,
doi:10.1287/mnsc.47.7.1008.9805). It does not protect against knowledge beyond the plan, nor does it hide which cells
are suppressed.
"""

from itertools import cycle

import numpy as np

from sfumato.tables.cells.system import AlternativeTable, BoolArray, Numbers
from sfumato.tables.deadline import GRACE, Deadline, out_of_time, within
from sfumato.tables.suppression.cut_separation import Separation
from sfumato.tables.suppression.master_problem import Master
from sfumato.tables.suppression.patterns import (
    InitialPattern,
    Pattern,
    PatternSearch,
    ProgressCallback,
    SuppressionResult,
    patience_of,
    witnesses_of,
)
from sfumato.tables.suppression.problem import SuppressionProblem

# Approximate numbers of secondary suppressions to remove, in turn; the maximum proportion of them; and the maximum
# random reduction of the price of a cell.
TAKEN, MOST, WHIM = (12, 20, 6, 16), 0.5, 0.8
# Number of exchanges without a cheaper pattern after which the search stops.
PATIENCE = 30
# Integer programs of tables with at most this many entries in their constraints have all cuts against bridges.
MEDIUM = 30_000
# A round of cuts that raises the bound by a smaller proportion is the last one before the integer program. In a
# thorough search, this many rounds together must raise it by the other proportion.
TAIL, ROUNDS, LONG_TAIL = 1e-3, 12, 4e-3
# The thorough search starts if a round raises the bound by a smaller proportion, and the gap is at least as wide.
SETTLED, FAR = 1e-2, 0.25
# Proportions of the remaining time: for removing superfluous suppressions at first; for cuts of linear constraints
# against insiders; for the first cuts; for removing superfluous suppressions of the pattern that follows from them, and
# of later ones; for one integer program with a wide gap and with a narrow one; and for exchanges with a wide gap.
FIRST, RELATIONS, ROOT, GUIDED, LATER, SLICE, LONG_SLICE, EXCHANGED = 0.1, 0.25, 0.45, 0.6, 0.1, 0.25, 0.6, 0.4
# Minimum share at which a cell of a point of the linear program is suppressed in the derived pattern.
ALMOST = 0.9
# From this gap on, exchanges are more effective than further integer programs.
WIDE = 0.1
# Gap to which integer programs are solved as long as attackers succeed against their patterns.
LOOSE = 0.03


def optimal(
    problem: SuppressionProblem,
    deadline: Deadline | float = 60.0,
    progress: ProgressCallback | None = None,
    start: InitialPattern | None = None,
) -> SuppressionResult:
    """Return the cheapest protected pattern, or the best within the time limit with its proved gap.

    Args:
        deadline: When the search ends; seconds from now.
        progress: Callback with the cost so far and the lower bound.
        start: A pattern to start from.

    Raises:
        UnattainableError: A cell cannot be protected by any pattern, or not in time.
    """
    end = deadline if isinstance(deadline, Deadline) else within(deadline)
    parts = list(problem.components())
    searches = [_Search(part, progress) for part in parts]
    # Every component is protected before any is improved, so a protected pattern exists whenever the time ends.
    for search in searches:
        search.begin(end, start)
    weight, masked = sum(part.size for part in parts), problem.forced.copy()
    witnesses: list[AlternativeTable] = []
    answers: list[SuppressionResult] = []
    for part, search in zip(parts, searches, strict=True):
        answer = search.run(end.share(part.size / max(weight, 1)))
        weight -= part.size
        masked[np.searchsorted(problem.places, part.places)] = answer.masked
        witnesses += answer.witnesses
        answers.append(answer)
    bound = float(sum(answer.bound for answer in answers))
    return SuppressionResult(masked, problem.cost_of(masked), bound, problem.places, tuple(witnesses))


class _Search:
    """Cutting-plane search on one component."""

    def __init__(self, problem: SuppressionProblem, progress: ProgressCallback | None) -> None:
        self._problem = problem
        self._end = Deadline()
        self._tell = progress or (lambda _: None)
        self._patterns = PatternSearch(problem)
        self._exchange = Exchange(self._patterns)
        self._looseness = LOOSE
        self._best = Pattern(problem.forced, {})
        # The lower bounds after each round of the thorough search.
        self._bounds: list[float] = []

    def begin(self, end: Deadline, start: InitialPattern | None = None) -> None:
        """Find a first protected pattern, near a known one.

        Raises:
            UnattainableError: No pattern exists, or none was found within the time limit.
        """
        masked = self._problem.forced if start is None else self._patterns.remember(start)
        pattern = self._patterns.protect(masked, end.later(GRACE), patience=patience_of(self._problem, end))
        if pattern is None:
            raise out_of_time(self._patterns.withstood, len(self._problem.threats))
        self._best = pattern

    def run(self, end: Deadline) -> SuppressionResult:
        """Return the cheapest pattern found within the time limit."""
        self._end = end
        self._master = Master(self._problem)
        self._offer(self._pruned(self._best, FIRST))
        if not self._finished():
            self._cut()
        bound = min(self._master.bound, self._cost)
        witnesses = tuple(witnesses_of(self._problem, self._best))
        return SuppressionResult(self._best.masked, self._cost, bound, self._problem.places, witnesses)

    def _cut(self) -> None:
        """Add cuts to the master program until its pattern protects against every attacker."""
        self._separation = Separation(self._problem, self._master, self._end.share(RELATIONS))
        root = self._end.share(ROOT)
        shares = self._relaxed(root)
        self._offer_near(shares)
        if self._separation.thorough:
            self._exchange_masks()
            self._offer_near(self._relaxed(self._end.share(ROOT)))
        if root.over:
            self._relaxed(self._end)
        if self._problem.matrix.nnz <= MEDIUM:
            self._separation.add_bridges()
        while not self._finished() and self._integer_round():
            self._relaxed(self._end)

    def _offer_near(self, shares: Numbers | None) -> None:
        """Keep the pattern derived from a point if it is the cheapest so far."""
        if shares is not None and not self._finished():
            self._offer(self._completed(shares > ALMOST, GUIDED, shares))
            self._report()

    def _relaxed(self, end: Deadline) -> Numbers | None:
        """Add cuts until the bound hardly rises; return the last point, or None if the time limit is reached."""
        bounds, shares = self._bounds if self._separation.thorough else [], None
        while not self._finished() and not end.over:
            shares = self._master.relax(self._end.left)
            if shares is None:
                return None
            learnt = self._separation.learn(shares, end)
            self._report()
            if self._separation.guarded:
                bounds.append(self._master.bound)
            settled = not learnt or _raised(bounds, 1) < SETTLED
            if settled and self._gap > FAR and self._separation.look_thoroughly():
                break
            rounds, least = (ROUNDS, LONG_TAIL) if self._separation.thorough else (1, TAIL)
            if not learnt or _raised(bounds, rounds) < least:
                break
        return shares

    def _integer_round(self) -> bool:
        """Solve the integer program, let the attackers check its pattern, and add their cuts."""
        if self._separation.thorough and self._gap > FAR and self._exchange_masks():
            return True
        cost, bound = self._cost, self._master.bound
        loose = min(self._looseness, (cost - bound) / cost / 2)
        slice_ = SLICE if self._gap > WIDE else LONG_SLICE
        shares, solved = self._master.solve(self._end.share(slice_), self._best.masked, loose)
        if shares is not None and not self._finished():
            self._offer(self._completed(shares > 0.5, LATER))
        self._report()
        if shares is None:
            return False
        if not solved:
            self._exchange_masks()
            self._separation.learn_pattern(shares, self._end)
            return not self._finished()
        learnt = self._separation.learn_pattern(shares, self._end)
        self._report()
        if not learnt and not self._separation.doubtful:
            if self._looseness == 0.0:
                return False
            self._looseness = 0.0
            return True
        return learnt > 0

    def _exchange_masks(self) -> bool:
        """Search for a cheaper pattern by exchanges, longer if the gap is wide; return whether one was found."""
        share, before = EXCHANGED if self._gap > WIDE else LATER, self._cost
        self._offer(self._exchange.improved(self._best, self._end.share(share)))
        self._report()
        return self._cost < before and not self._finished()

    def _completed(self, start: BoolArray, share: float, guide: Numbers | None = None) -> Pattern | None:
        """Return a protected pattern near a point; use a share of the time to remove superfluous suppressions."""
        rough = self._patterns.protect(start, self._end, guide)
        return None if rough is None else self._pruned(rough, share)

    def _pruned(self, rough: Pattern, share: float) -> Pattern:
        return self._patterns.pruned(rough, self._end.share(share))

    def _offer(self, pattern: Pattern | None) -> None:
        """Keep a protected pattern if it is the cheapest so far."""
        if pattern is not None and self._problem.cost_of(pattern.masked) < self._cost - 1e-9:
            self._best = pattern

    @property
    def _cost(self) -> float:
        return self._problem.cost_of(self._best.masked)

    @property
    def _gap(self) -> float:
        """Return the relative gap between the cost and its lower bound."""
        return (self._cost - self._master.bound) / max(self._cost, 1e-9)

    def _finished(self) -> bool:
        return self._end.over or self._cost - self._master.bound <= 1e-7 * max(1.0, self._cost)

    def _report(self) -> None:
        self._tell(f"cost {self._cost:,.0f}, at least {self._master.bound:,.0f}")


def _raised(bounds: list[float], rounds: int) -> float:
    """Return the proportion by which the last rounds raised the bound; infinite with fewer rounds."""
    return np.inf if len(bounds) <= rounds else bounds[-1] / max(bounds[-1 - rounds], 1e-9) - 1


# After Schrimpf et al. 2000, doi:10.1006/jcph.1999.6413: the new suppressions differ because prices vary at random, and
# superfluous ones are removed. A pattern is kept if it is not more expensive.
class Exchange:
    """Exchanges suppressed cells of the patterns of one problem; equal seeds give equal exchanges."""

    def __init__(self, search: PatternSearch) -> None:
        self._search, self._problem = search, search.problem
        self._chance = np.random.default_rng(0)
        self._taken = cycle(TAKEN)

    def improved(self, pattern: Pattern, deadline: Deadline) -> Pattern:
        """Return a pattern of at most the same cost, by exchanges until the time limit or without further success."""
        best, least, vain = pattern, self._problem.cost_of(pattern.masked), 0
        while vain < PATIENCE and not deadline.over:
            other = self._exchanged(best.masked, deadline)
            cost = np.inf if other is None else self._problem.cost_of(other.masked)
            vain = 0 if cost < least - 1e-9 else vain + 1
            if other is not None and cost <= least:
                best, least = other, cost
        return best

    def _exchanged(self, masked: BoolArray, deadline: Deadline) -> Pattern | None:
        """Return a protected pattern near another one; None if the time limit is reached first."""
        size = self._problem.size
        secondary = max(int(np.count_nonzero(masked & ~self._problem.forced)), 1)
        share = min(next(self._taken) / secondary, MOST)
        start = masked & (self._chance.random(size) >= share)
        rough = self._search.protect(start, deadline, self._chance.random(size) * WHIM)
        return None if rough is None else self._search.pruned(rough, deadline)
