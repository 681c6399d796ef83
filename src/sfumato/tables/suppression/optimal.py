"""Optimal suppression: the cheapest pattern of masked cells that withstands every attacker, with its proof.

A master program over binary cell variables and the attackers' linear programs talk to each other: the master proposes
a pattern, each attacker that gets through answers with a cut, until none does (Fischetti and Salazar-González 2001,
doi:10.1287/mnsc.47.7.1008.9805). It does not protect from what an attacker knows beyond the plan, nor does it hide
which cells are masked.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers
from sfumato.tables.cells.witness import Witness
from sfumato.tables.deadline import GRACE, Deadline, out_of_time, within
from sfumato.tables.suppression.attack_programs import WHISPER, Attackers
from sfumato.tables.suppression.defense import unprotectable
from sfumato.tables.suppression.flows.flow import GENEROUS
from sfumato.tables.suppression.master import Bridges, Cut, Master, capacity_cut, relation_cuts
from sfumato.tables.suppression.parallel_attacks import Guards
from sfumato.tables.suppression.patterns import Pattern, PatternSearch
from sfumato.tables.suppression.problem import Problem, Threat
from sfumato.tables.suppression.pruning import Pruning
from sfumato.tables.suppression.suppression import Progress, Suppression, witnesses_of

# Tables with at most so many entries in their relations start with all cuts against bridges.
SMALL = 2_000
# With at most so many, integer programs get them all.
MEDIUM = 30_000
# A round of cuts that raises the bound by a smaller share is the last one before the integer program.
TAIL = 1e-3
# Shares of the time left: for removing superfluous masks at first and later, and for one integer program.
FIRST, LATER, SLICE = 0.15, 0.1, 0.25
# Gap to which integer programs are solved as long as attackers get through their patterns.
LOOSE = 0.03


def optimal(problem: Problem, deadline: Deadline | float = 60.0, progress: Progress | None = None) -> Suppression:
    """The cheapest protected pattern, or the best found within the time together with the proved gap.

    Args:
        problem: The problem.
        deadline: When the search ends; seconds from now.
        progress: Told the cost so far and the bound.

    Raises:
        UnattainableError: A cell cannot be protected whatever is masked, or not within the time.
    """
    end = deadline if isinstance(deadline, Deadline) else within(deadline)
    parts = list(problem.components())
    searches = [_Search(part, progress) for part in parts]
    # Every part is protected before any is improved: then there is a safe pattern, whatever time is left.
    for search in searches:
        search.begin(end.later(GRACE))
    weight, masked = sum(part.size for part in parts), problem.forced.copy()
    witnesses: list[Witness] = []
    answers: list[Suppression] = []
    for part, search in zip(parts, searches, strict=True):
        answer = search.run(end.share(part.size / max(weight, 1)))
        weight -= part.size
        masked[np.searchsorted(problem.places, part.places)] = answer.masked
        witnesses += answer.witnesses
        answers.append(answer)
    bound = float(sum(answer.bound for answer in answers))
    return Suppression(masked, problem.cost_of(masked), bound, problem.places, tuple(witnesses))


class _Search:
    """Cutting planes on one component."""

    def __init__(self, problem: Problem, progress: Progress | None) -> None:
        self._problem = problem
        self._end = Deadline()
        self._tell = progress or (lambda _: None)
        self._patterns = PatternSearch(problem)
        self._insiders: list[Threat] = []
        self._whispers = _whispers(problem.costs)
        self._wide: Attackers | None = None
        self._doubtful = self._guarded = False
        self._looseness = LOOSE
        self._best = Pattern(problem.forced, {})

    def begin(self, end: Deadline) -> None:
        """Find a first protected pattern.

        Raises:
            UnattainableError: There is none, or none within the time.
        """
        pattern = self._patterns.protect(self._problem.forced, end)
        if pattern is None:
            raise out_of_time(self._patterns.withstood, len(self._problem.threats))
        self._best = pattern

    def run(self, end: Deadline) -> Suppression:
        """The cheapest pattern, as far as the time allows."""
        self._end = end
        self._master = Master(self._problem)
        self._offer(self._pruned(self._best, FIRST))
        if not self._finished():
            self._cut()
        bound = min(self._master.bound, self._cost)
        witnesses = tuple(witnesses_of(self._problem, self._best))
        return Suppression(self._best.masked, self._cost, bound, self._problem.places, witnesses)

    def _cut(self) -> None:
        """Teach the master program until no attacker gets through its pattern."""
        self._bridges = Bridges(self._problem)
        self._guards = Guards(self._problem)
        self._cutters = Attackers(self._problem)
        for cut in relation_cuts(self._problem):
            self._add(cut)
        if self._problem.matrix.nnz <= SMALL:
            for cut in self._bridges.all():
                self._add(cut)
        shares = self._relaxed()
        if shares is not None and not self._finished():
            self._offer(self._completed(shares > 0.99, shares))
        if self._problem.matrix.nnz <= MEDIUM:
            for cut in self._bridges.all():
                self._add(cut)
        while not self._finished() and self._integer_round():
            self._relaxed()

    def _relaxed(self) -> Numbers | None:
        """Cuts for the linear program until it has hardly more to learn; its point then, None when time is over."""
        before, shares = -np.inf, None
        while not self._finished():
            shares = self._master.relax(self._end.left)
            if shares is None:
                return None
            learnt = self._separate(shares, integer=False)
            self._report()
            if not learnt or (self._guarded and self._master.bound < before + TAIL * abs(before)):
                break
            before = self._master.bound if self._guarded else before
        return shares

    def _integer_round(self) -> bool:
        """The cheapest pattern by what is known, and what the attackers say of it."""
        cost, bound = self._cost, self._master.bound
        loose = min(self._looseness, (cost - bound) / cost / 2)
        shares, solved = self._master.solve(self._end.share(SLICE), self._best.masked, loose)
        if shares is not None and not self._finished():
            self._offer(self._completed(shares > 0.5))
        self._report()
        if shares is None:
            return False
        if not solved:
            self._separate(shares, integer=True)
            return not self._finished()
        learnt = self._separate(shares, integer=True)
        self._report()
        if not learnt and not self._doubtful:
            if self._looseness == 0.0:
                return False
            self._looseness = 0.0
            return True
        return learnt > 0

    def _completed(self, start: Mask, guide: Numbers | None = None) -> Pattern | None:
        """A protected pattern near a point, without superfluous masks as far as a share of the time allows."""
        rough = self._patterns.protect(start, self._end, guide)
        return None if rough is None else self._pruned(rough, LATER)

    def _pruned(self, rough: Pattern, share: float) -> Pattern:
        return Pattern(*Pruning(self._problem, rough.masked, rough.proofs).run(self._end.share(share)))

    def _separate(self, shares: Numbers, integer: bool) -> int:
        """Add the cuts that a point violates; bridges first, for they cost nothing to find."""
        self._doubtful = False
        learnt = sum(self._add(cut) for cut in self._bridges.violated(shares))
        self._guarded = integer or not learnt
        if not self._guarded:
            return learnt
        self._guards.open(shares)
        failed = self._guards.failed([*self._problem.threats, *self._insiders])
        if not failed and self._problem.attackers:
            failed = self._failed_insiders()
        for threat in failed:
            learnt += self._teach(threat, shares, self._whispers[: None if integer else 1])
            if self._end.over:
                # What was not taught is not withstood either: the point is no answer.
                return max(learnt, 1)
        return learnt

    def _failed_insiders(self) -> list[Threat]:
        known = set(self._insiders)
        new = [threat for threat in self._guards.insiders() if threat not in known]
        self._insiders.extend(new)
        return self._guards.failed(new)

    def _teach(self, threat: Threat, shares: Numbers, whispers: Sequence[Numbers]) -> bool:
        """Add the cuts with which a failed threat answers: several where each costs an integer program less."""
        learnt = False
        for whisper in whispers:
            self._cutters.open(np.maximum(shares, whisper))
            learnt = self._answer(self._cutters, threat, shares, 1e-4) or learnt
        if learnt:
            return True
        self._cutters.open(shares)
        if self._answer(self._cutters, threat, shares, 1e-6):
            return True
        self._wide = self._wide or Attackers(self._problem, GENEROUS)
        self._wide.open(shares)
        if self._answer(self._wide, threat, shares, 1e-6):
            return True
        # Neither withstood nor a cut to say so: numbers at the edge of precision, not to be trusted.
        self._doubtful = self._doubtful or self._wide.directions(threat) is not None
        return False

    def _answer(self, attackers: Attackers, threat: Threat, shares: Numbers, least: float) -> bool:
        directions = attackers.directions(threat)
        cut = None if directions is None else capacity_cut(self._problem, threat, directions)
        return cut is not None and cut.short(shares) > least and self._add(cut)

    def _add(self, cut: Cut) -> bool:
        if cut.least > 0 and not len(cut.cells):
            raise unprotectable(self._problem, self._problem.threats[0])
        return self._master.add(cut)

    def _offer(self, pattern: Pattern | None) -> None:
        """Keep a protected pattern when it is the cheapest so far."""
        if pattern is not None and self._problem.cost_of(pattern.masked) < self._cost - 1e-9:
            self._best = pattern

    @property
    def _cost(self) -> float:
        return self._problem.cost_of(self._best.masked)

    def _finished(self) -> bool:
        return self._end.over or self._cost - self._master.bound <= 1e-7 * max(1.0, self._cost)

    def _report(self) -> None:
        self._tell(f"cost {self._cost:,.0f}, at least {self._master.bound:,.0f}")


def _whispers(costs: Numbers) -> tuple[Numbers, ...]:
    """Small capacities for unmasked cells: each kind picks another of the equally violated cuts."""
    scaled = costs / max(float(costs.max(initial=0.0)), 1e-9)
    return np.full(len(costs), WHISPER), WHISPER * (0.1 + scaled), WHISPER / (1.0 + 100.0 * scaled)
