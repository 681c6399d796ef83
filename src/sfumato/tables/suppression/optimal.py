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

# How many secondary masks are taken away, in turn, about; no larger share of them than the next; and by how much at
# most chance makes a cell cheaper.
TAKEN, MOST, WHIM = (12, 20, 6, 16), 0.5, 0.8
# So many exchanges without a cheaper pattern are enough.
PATIENCE = 30
# Tables with at most so many entries in their relations have all cuts against bridges in their integer programs.
MEDIUM = 30_000
# A round of cuts that raises the bound by a smaller share is the last one before the integer program; where they are
# thoroughly sought, so many rounds together that raise it by less than the other share.
TAIL, ROUNDS, LONG_TAIL = 1e-3, 12, 4e-3
# They are where a round raises the bound by a smaller share, and still leaves a gap as wide.
SETTLED, FAR = 1e-2, 0.25
# Shares of the time left: for removing superfluous masks at first, for cuts that relations give against those within,
# for the first cuts, for removing superfluous masks of the pattern that they lead to and of later ones, for one integer
# program, where the gap is wide and where it is not, and for exchanges where it has no end.
FIRST, RELATIONS, ROOT, GUIDED, LATER, SLICE, LONG_SLICE, EXCHANGED = 0.1, 0.25, 0.45, 0.6, 0.1, 0.25, 0.6, 0.4
# Minimum share at which a cell of a point of the linear program is suppressed in the derived pattern.
ALMOST = 0.9
# From this gap on exchanges promise more than further integer programs.
WIDE = 0.1
# Gap to which integer programs are solved as long as attackers get through their patterns.
LOOSE = 0.03


def optimal(
    problem: SuppressionProblem,
    deadline: Deadline | float = 60.0,
    progress: ProgressCallback | None = None,
    start: InitialPattern | None = None,
) -> SuppressionResult:
    """The cheapest protected pattern, or the best found within the time together with the proved gap.

    Args:
        deadline: When the search ends; seconds from now.
        progress: Told the cost so far and the bound.
        start: A pattern to start from.

    Raises:
        UnattainableError: A cell cannot be protected by any pattern, or not in time.
    """
    end = deadline if isinstance(deadline, Deadline) else within(deadline)
    parts = list(problem.components())
    searches = [_Search(part, progress) for part in parts]
    # Every part is protected before any is improved: then there is a safe pattern, whatever time is left.
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
    """Cutting planes on one component."""

    def __init__(self, problem: SuppressionProblem, progress: ProgressCallback | None) -> None:
        self._problem = problem
        self._end = Deadline()
        self._tell = progress or (lambda _: None)
        self._patterns = PatternSearch(problem)
        self._exchange = Exchange(self._patterns)
        self._looseness = LOOSE
        self._best = Pattern(problem.forced, {})
        # What the rounds of thorough cuts proved, one after the other.
        self._bounds: list[float] = []

    def begin(self, end: Deadline, start: InitialPattern | None = None) -> None:
        """Find a first protected pattern, near one that is known.

        Raises:
            UnattainableError: There is none, or none within the time.
        """
        masked = self._problem.forced if start is None else self._patterns.remember(start)
        pattern = self._patterns.protect(masked, end.later(GRACE), patience=patience_of(self._problem, end))
        if pattern is None:
            raise out_of_time(self._patterns.withstood, len(self._problem.threats))
        self._best = pattern

    def run(self, end: Deadline) -> SuppressionResult:
        """The cheapest pattern, as far as the time allows."""
        self._end = end
        self._master = Master(self._problem)
        self._offer(self._pruned(self._best, FIRST))
        if not self._finished():
            self._cut()
        bound = min(self._master.bound, self._cost)
        witnesses = tuple(witnesses_of(self._problem, self._best))
        return SuppressionResult(self._best.masked, self._cost, bound, self._problem.places, witnesses)

    def _cut(self) -> None:
        """Teach the master program until no attacker gets through its pattern."""
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
        """Keep the pattern that a point leads to, when it is the cheapest so far."""
        if shares is not None and not self._finished():
            self._offer(self._completed(shares > ALMOST, GUIDED, shares))
            self._report()

    def _relaxed(self, end: Deadline) -> Numbers | None:
        """Cuts for the linear program until it has hardly more to learn; its last point, None when time is over."""
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
        """The cheapest pattern by what is known, and what the attackers say of it."""
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
        """Cheaper patterns by exchanges, for longer where integer programs are far from an end; whether there are."""
        share, before = EXCHANGED if self._gap > WIDE else LATER, self._cost
        self._offer(self._exchange.improved(self._best, self._end.share(share)))
        self._report()
        return self._cost < before and not self._finished()

    def _completed(self, start: BoolArray, share: float, guide: Numbers | None = None) -> Pattern | None:
        """A protected pattern near a point, without superfluous masks as far as a share of the time allows."""
        rough = self._patterns.protect(start, self._end, guide)
        return None if rough is None else self._pruned(rough, share)

    def _pruned(self, rough: Pattern, share: float) -> Pattern:
        return self._patterns.pruned(rough, self._end.share(share))

    def _offer(self, pattern: Pattern | None) -> None:
        """Keep a protected pattern when it is the cheapest so far."""
        if pattern is not None and self._problem.cost_of(pattern.masked) < self._cost - 1e-9:
            self._best = pattern

    @property
    def _cost(self) -> float:
        return self._problem.cost_of(self._best.masked)

    @property
    def _gap(self) -> float:
        """The share of the cost that may be too much."""
        return (self._cost - self._master.bound) / max(self._cost, 1e-9)

    def _finished(self) -> bool:
        return self._end.over or self._cost - self._master.bound <= 1e-7 * max(1.0, self._cost)

    def _report(self) -> None:
        self._tell(f"cost {self._cost:,.0f}, at least {self._master.bound:,.0f}")


def _raised(bounds: list[float], rounds: int) -> float:
    """By which share the last rounds raised the bound; without end where there were not so many."""
    return np.inf if len(bounds) <= rounds else bounds[-1] / max(bounds[-1 - rounds], 1e-9) - 1


# After Schrimpf et al. 2000, doi:10.1006/jcph.1999.6413: the new suppressions differ because prices vary at random, and
# superfluous ones are removed. A pattern is kept if it is not more expensive.
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
