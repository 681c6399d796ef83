"""Patterns of suppressed cells: the result of a method, a starting pattern, and a good one found quickly."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from sfumato.tables.cells.system import AlternativeTable, BoolArray, Numbers, Places, Table
from sfumato.tables.deadline import FOREVER, GRACE, Deadline, out_of_time
from sfumato.tables.suppression.flow_finders import finder_for
from sfumato.tables.suppression.linear_flows import Tableau
from sfumato.tables.suppression.problem import OUTSIDER, SLACK, Flow, SuppressionProblem, Threat
from sfumato.tables.suppression.pruning import (
    FEW_MASKED,
    Reasons,
    SuppressionPruning,
    ThreatProof,
    infeasible_protection,
    open_attackers,
    proof_of,
    with_turned,
)
from sfumato.values import Value, replace


class InitialPattern(Value):
    """A suppression pattern of a table to start from, and alternative tables that are supposed to agree with it.

    Attributes:
        masked: The cells of the table that the pattern suppresses.
        witnesses: Deviations that move suppressed cells only; each is checked before it is used.
    """

    masked: BoolArray
    witnesses: Sequence[AlternativeTable] = ()

    def of(self, problem: SuppressionProblem) -> BoolArray:
        """Return the pattern over the cells of a problem."""
        return np.asarray(self.masked[problem.places] | problem.forced)

    def flows(self, problem: SuppressionProblem) -> Iterator[tuple[int, Flow]]:
        """Yield the witnesses that are flows of a problem within the pattern, each with the cell that it moves."""
        places = np.full(len(self.masked), -1, np.int64)
        places[problem.places[self.of(problem)]] = np.flatnonzero(self.of(problem))
        for witness in self.witnesses:
            moving = np.abs(witness.amounts) > SLACK * np.abs(witness.amounts).max(initial=0.0)
            flow = Flow(places[witness.cells[moving]], witness.amounts[moving])
            if places[witness.cell] in flow.cells and _holds(problem, flow):
                yield int(places[witness.cell]), flow


def _holds(problem: SuppressionProblem, flow: Flow) -> bool:
    """Return whether a flow moves only cells of the problem, within their capacities, and satisfies all constraints."""
    if (flow.cells < 0).any() or not flow.fits(problem.up, problem.down):
        return False
    net = np.zeros(problem.size)
    net[flow.cells] = flow.amounts
    return bool(np.abs(problem.matrix @ net).max(initial=0.0) <= SLACK * np.abs(flow.amounts).max())


# The price of a suppressed cell in a flow, as a share of its own cost: enough to prefer short flows.
REUSE = 1e-4
# Price factor of cells that insiders know: another flow is needed against them.
KNOWN = 1.5

# Share of the remaining time for cheapest flows of a first pattern, if a faster finder exists, and the seconds per
# threat reserved for that finder.
PATIENCE, QUICKLY = 0.6, 0.006

Proofs = dict[Threat, list[ThreatProof]]


def patience_of(problem: SuppressionProblem, end: Deadline) -> Deadline:
    """Return until when the cheapest flows of a first pattern are sought, so that it is complete in time."""
    return min(end.share(PATIENCE), end.earlier(QUICKLY * len(problem.threats)), key=lambda moment: moment.left)


class Pattern(Value):
    """A pattern with the proofs that it protects against every threat."""

    masked: BoolArray
    proofs: Mapping[Threat, list[ThreatProof]]


class PatternSearch:
    """Finds protected patterns of one problem.

    Between searches it keeps the flows that it found and the threats for which suppressions were needed.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        largest = float(problem.costs.max(initial=0.0))
        self._costs = problem.costs * (1e3 / largest if largest > 0 else 1.0) + 1e-3
        self._threats = sorted(problem.threats, key=lambda threat: -threat.need)
        self._proofs: Proofs = {}
        self._reasons: Reasons = {}
        self._known = np.where(problem.known, KNOWN, 1.0)
        self._finder = finder_for(problem, self._costs)
        self.withstood = 0
        self._tableau: tuple[BoolArray, Places, Tableau] | None = None

    def remember(self, start: InitialPattern) -> BoolArray:
        """Return the start of a search from a known pattern, and keep the pattern's flows."""
        for cell, flow in start.flows(self.problem):
            sign = float(flow.amounts[flow.cells == cell][0])
            for threat in self._threats:
                if threat.cell == cell and sign * threat.sign > 0:
                    self._proofs.setdefault(threat, []).append(proof_of(self.problem, threat, flow))
        return start.of(self.problem)

    def protect(
        self,
        start: BoolArray,
        deadline: Deadline,
        guide: Numbers | None = None,
        tell: Callable[[], None] | None = None,
        patience: Deadline = FOREVER,
    ) -> Pattern | None:
        """Return a protected pattern that includes `start` and the forced cells; None if the time limit is reached.

        Args:
            start: Cells that are suppressed in any case.
            deadline: When the search ends.
            guide: A point of the linear program; cells with larger shares are preferred.
            tell: Callback after every threat against which the pattern protects.
            patience: Until when cheapest flows are sought; after that, any flow that is found quickly is accepted.

        Raises:
            UnattainableError: A cell cannot be protected by any pattern.
        """
        masked = start | self.problem.forced
        wished = self._known * (self._costs if guide is None else self._costs * (1.0 - 0.9 * guide))
        prices = np.where(masked, self._costs * REUSE * self._known, wished)
        self._finder.reprice(np.arange(self.problem.size), prices)
        for place, threat in enumerate(self._threats):
            if deadline.over or not self._secure(threat, masked, deadline, patience):
                self.withstood = place
                return None
            if tell is not None:
                tell()
        return Pattern(masked, {threat: self._proofs[threat] for threat in self._threats})

    def pruned(self, rough: Pattern, deadline: Deadline) -> Pattern:
        """Return a pattern without its superfluous suppressions, as far as the time allows."""
        return Pattern(*SuppressionPruning(self.problem, rough.masked, rough.proofs, self._reasons).run(deadline))

    def _within(self, masked: BoolArray, attack: Threat) -> Flow | None:
        """Return a flow through few cells that are suppressed already; it costs nothing, so it is tried first."""
        if np.count_nonzero(masked) > FEW_MASKED:
            return None
        if self._tableau is None or not (self._tableau[0] == masked).all():
            cells = np.flatnonzero(masked)
            part = self.problem.part(cells, ())
            self._tableau = masked.copy(), cells, Tableau(part, np.ones(len(cells)))
        _, cells, tableau = self._tableau
        flow = tableau.quickly(replace(attack, cell=int(np.searchsorted(cells, attack.cell))))
        return None if flow is None else Flow(cells[flow.cells], flow.amounts)

    def _secure(self, threat: Threat, masked: BoolArray, deadline: Deadline, patience: Deadline) -> bool:
        """Suppress, in place, the cells that one threat needs; return whether the time sufficed."""
        proofs = [proof for proof in self._proofs.get(threat, ()) if proof.within(masked)]
        if open_attackers(self.problem, threat, proofs):
            opposite = [proof for proof in self._proofs.get(threat.opposite, ()) if proof.within(masked)]
            proofs = with_turned(self.problem, threat, proofs, opposite)
        while left := open_attackers(self.problem, threat, proofs):
            attack = threat if left[0] == OUTSIDER else self.problem.with_insiders(threat, left[0])
            assert attack is not None
            flow = self._within(masked, attack) or self._finder.find(attack, deadline, patience)
            if deadline.over:
                return False
            if flow is None:
                raise infeasible_protection(self.problem, attack)
            proofs.append(proof_of(self.problem, threat, flow))
            new = flow.cells[~masked[flow.cells]]
            masked[new] = True
            self._finder.reprice(new, self._costs[new] * REUSE * self._known[new])
        self._proofs[threat] = proofs
        return True


ProgressCallback = Callable[[str], None]


class SuppressionResult(Value):
    """A protected pattern, its cost, and a lower bound of the cost of any pattern.

    Attributes:
        masked: The suppressed cells of the problem.
        cost: The cost of the pattern.
        bound: Lower bound of the cost of any pattern.
        places: The cells' places in the table.
        witnesses: Alternative tables that agree with the pattern; the audit checks each of them.
    """

    masked: BoolArray
    cost: float
    bound: float
    places: Places
    witnesses: tuple[AlternativeTable, ...] = ()

    def over(self, table: Table) -> BoolArray:
        """Return the pattern over all cells of the table."""
        mask = np.zeros(len(table), bool)
        mask[self.places] = self.masked
        return mask

    @property
    def proved(self) -> bool:
        return self.cost - self.bound <= 1e-6 * max(1.0, self.cost)

    @property
    def gap(self) -> float:
        """Return the relative gap between the cost and its lower bound."""
        return 0.0 if self.proved else (self.cost - max(self.bound, 0.0)) / self.cost


def witnesses_of(problem: SuppressionProblem, pattern: Pattern) -> list[AlternativeTable]:
    """Return the proofs of a pattern as witnesses, over the cells of the table."""
    return [
        AlternativeTable(int(problem.places[threat.cell]), problem.places[proof.flow.cells], proof.flow.amounts)
        for threat, proofs in pattern.proofs.items()
        for proof in proofs
    ]


# Seconds between two progress reports.
PAUSE = 1.0


def fast(
    problem: SuppressionProblem,
    deadline: Deadline | None = None,
    progress: ProgressCallback | None = None,
    start: InitialPattern | None = None,
) -> SuppressionResult:
    """Find a protected pattern from cheapest flows, and prune it within the time limit; its lower bound is 0.

    For each threat in turn, the search adds the cheapest flow that protects against it; cells that are already
    suppressed cost almost nothing (Kelly, Golden and Assad 1992, doi:10.1002/net.3230220407). An insider who can
    exclude a flow requires another one. A final pass in the order of cost publishes cells again that no threat needs.

    Args:
        deadline: When the search ends.
        progress: Callback with the state of the search.
        start: A pattern to start from.

    Raises:
        UnattainableError: No pattern protects a cell, or none was found in time.
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
    """Reports the progress of a search at intervals."""

    def __init__(self, progress: ProgressCallback | None, attacks: int) -> None:
        self._progress, self._last = progress, time.monotonic()
        self.attacks, self.done = attacks, 0

    def withstood(self) -> None:
        """Count one more attack against which the pattern protects."""
        self.done += 1
        self._say(f"{self.done:,} of {self.attacks:,} attacks withstood")

    def pruned(self, left: int) -> None:
        """Report how many suppressed cells are still to be tried."""
        self._say(f"{left:,} masked cells to be tried again")

    def _say(self, text: str) -> None:
        if self._progress is not None and time.monotonic() - self._last > PAUSE:
            self._last = time.monotonic()
            self._progress(text)
