"""Optimal suppression: the cheapest pattern of masked cells that withstands every attacker, with its proof.

A master program over binary cell variables and the attackers' linear programs talk to each other: the master proposes
a pattern, each attacker that gets through answers with a cut, until none does (Fischetti and Salazar-González 2001,
doi:10.1287/mnsc.47.7.1008.9805). It does not protect from what an attacker knows beyond the plan, nor does it hide
which cells are masked.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Places, Table
from sfumato.tables.suppression.attack_programs import WHISPER, Attackers
from sfumato.tables.suppression.flows import GENEROUS
from sfumato.tables.suppression.master import Bridges, Cut, Master, capacity_cut, relation_cuts
from sfumato.tables.suppression.parallel_attacks import Guards
from sfumato.tables.suppression.patterns import PatternSearch, unprotectable
from sfumato.tables.suppression.problem import Problem, Threat

Progress = Callable[[str], None]
# Tables with at most so many entries in their relations start with all cuts against bridges.
SMALL = 2000


@dataclass(frozen=True, slots=True)
class Suppression:
    """A protected pattern, its cost, and the least cost that any pattern can have.

    Attributes:
        masked: Which cells of the problem are masked.
        cost: What that costs.
        bound: The least that any pattern costs.
        places: The cells' places in the table.
    """

    masked: Mask
    cost: float
    bound: float
    places: Places

    def over(self, table: Table) -> Mask:
        """The pattern over all cells of the table."""
        mask = np.zeros(len(table), bool)
        mask[self.places] = self.masked
        return mask

    @property
    def proved(self) -> bool:
        return self.cost - self.bound <= 1e-6 * max(1.0, self.cost)

    @property
    def gap(self) -> float:
        """The share of the cost that may be too much."""
        return 0.0 if self.proved else (self.cost - max(self.bound, 0.0)) / self.cost


def optimal(problem: Problem, seconds: float = 60.0, progress: Progress | None = None) -> Suppression:
    """The cheapest protected pattern, or the best found within the time together with the proved gap.

    Raises:
        UnattainableError: A cell cannot be protected whatever is masked.
    """
    masked = problem.forced.copy()
    end = time.monotonic() + seconds
    parts = list(problem.components())
    weight = sum(part.size for part in parts)
    answers: list[Suppression] = []
    for part in parts:
        share = max(end - time.monotonic(), 0.1) * part.size / max(weight, 1)
        weight -= part.size
        answer = _Search(part, time.monotonic() + share, progress).run()
        masked[np.searchsorted(problem.places, part.places)] = answer.masked
        answers.append(answer)
    bound = float(sum(answer.bound for answer in answers))
    return Suppression(masked, problem.cost_of(masked), bound, problem.places)


class _Search:
    """Cutting planes on one component."""

    def __init__(self, problem: Problem, end: float, progress: Progress | None) -> None:
        self._problem = problem
        self._end = end
        self._tell = progress or (lambda _: None)
        self._master = Master(problem)
        self._bridges = Bridges(problem)
        self._patterns = PatternSearch(problem, end)
        self._guards = Guards(problem)
        self._cutters = Attackers(problem)
        self._wide: Attackers | None = None
        self._insiders: list[Threat] = []
        self._whispers = _whispers(problem.costs)
        self._guided = False
        self._doubtful = False
        self._best: Mask | None = None

    def run(self) -> Suppression:
        self._offer(self._patterns.complete(self._problem.forced))
        for cut in relation_cuts(self._problem) if not self._finished() else ():
            self._add(cut)
        if self._problem.matrix.nnz <= SMALL and not self._finished():
            for cut in self._bridges.all():
                self._add(cut)
        while not self._finished() and self._round():
            pass
        assert self._best is not None
        cost = self._problem.cost_of(self._best)
        return Suppression(self._best, cost, min(self._master.bound, cost), self._problem.places)

    def _round(self) -> bool:
        """One turn: cuts for the linear program until it has no more to learn, then one for the integer program."""
        while not self._finished():
            shares = self._master.relax(self._end - time.monotonic())
            if shares is None:
                return False
            learnt = self._separate(shares, integer=False)
            self._report()
            if not learnt:
                break
        else:
            return False
        if not self._guided:
            self._guided = True
            self._offer(self._patterns.complete(shares > 0.99, shares))
        return not self._finished() and self._integer_round()

    def _integer_round(self) -> bool:
        assert self._best is not None
        shares, solved = self._master.solve(self._end - time.monotonic(), self._best)
        if shares is not None and not self._finished():
            self._offer(self._patterns.complete(shares > 0.5))
        if shares is None or not solved:
            return False
        learnt = self._separate(shares, integer=True)
        self._report()
        if not learnt and not self._doubtful:
            self._offer((shares > 0.5) | self._problem.forced)
        return learnt > 0

    def _separate(self, shares: Numbers, integer: bool) -> int:
        """Add the cuts that a point violates; bridges first, for they cost nothing to find."""
        self._doubtful = False
        learnt = sum(self._add(cut) for cut in self._bridges.violated(shares))
        if learnt and not integer:
            return learnt
        self._guards.open(shares)
        failed = self._guards.failed([*self._problem.threats, *self._insiders])
        if not failed and self._problem.attackers:
            failed = self._failed_insiders()
        for threat in failed:
            learnt += self._teach(threat, shares, self._whispers[: None if integer else 1])
            if time.monotonic() >= self._end:
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

    def _offer(self, masked: Mask) -> None:
        """Keep a protected pattern when it is the cheapest so far."""
        if self._best is None or self._problem.cost_of(masked) < self._problem.cost_of(self._best) - 1e-9:
            self._best = masked

    def _finished(self) -> bool:
        assert self._best is not None
        cost = self._problem.cost_of(self._best)
        return time.monotonic() >= self._end or cost - self._master.bound <= 1e-7 * max(1.0, cost)

    def _report(self) -> None:
        assert self._best is not None
        self._tell(f"cost {self._problem.cost_of(self._best):,.0f}, at least {self._master.bound:,.0f}")


def _whispers(costs: Numbers) -> tuple[Numbers, ...]:
    """Small capacities for unmasked cells: each kind picks another of the equally violated cuts."""
    scaled = costs / max(float(costs.max(initial=0.0)), 1e-9)
    return np.full(len(costs), WHISPER), WHISPER * (0.1 + scaled), WHISPER / (1.0 + 100.0 * scaled)
