"""Heuristic patterns: the cheapest flow for one threat after another, then superfluous suppressions are removed.

Each threat in turn gets the cheapest deviations that protect against it; cells that are already suppressed cost almost
nothing (Kelly, Golden and Assad 1992, doi:10.1002/net.3230220407). An insider who can exclude a flow needs another one.
A pass in order of cost then publishes again what no threat needs.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flows.finders import finder_for
from sfumato.tables.suppression.flows.flow import Flow
from sfumato.tables.suppression.flows.tableau import Tableau
from sfumato.tables.suppression.initial_pattern import InitialPattern
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat
from sfumato.tables.suppression.pruning import FEW_MASKED, Reasons, SuppressionPruning
from sfumato.tables.suppression.threat_proofs import (
    ThreatProof,
    infeasible_protection,
    open_attackers,
    proof_of,
    with_turned,
)

# What a masked cell costs a flow, as a share of its own cost: enough to prefer short flows.
REUSE = 1e-4
# How much dearer cells are whose respondents know them: whoever knows a cell must be shown another flow.
KNOWN = 1.5

# Share of the time left in which cheapest flows are sought for a first pattern, where others are at hand, and what is
# kept for these: seconds for each threat.
PATIENCE, QUICKLY = 0.6, 0.006

Proofs = dict[Threat, list[ThreatProof]]


def patience_of(problem: SuppressionProblem, end: Deadline) -> Deadline:
    """Until when the cheapest flows are sought of a first pattern, which must be there in time."""
    return min(end.share(PATIENCE), end.earlier(QUICKLY * len(problem.threats)), key=lambda moment: moment.left)


@dataclass(frozen=True)
class Pattern:
    """A pattern with the proofs that it withstands every threat."""

    masked: BoolArray
    proofs: Mapping[Threat, list[ThreatProof]]


class PatternSearch:
    """Finds protected patterns of one problem.

    Between searches it remembers the flows it found and what masks were needed for.
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
        """Where to start from by a pattern that is known, whose flows need not be sought again."""
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
        """A protected pattern built on `start` and the forced cells, None when the time is over before.

        Args:
            start: Cells to be masked, whatever else is.
            deadline: When it must be there.
            guide: Shares by which cells are wished for.
            tell: Called for every threat that is withstood.
            patience: Until when cheapest flows are sought; then any that are quickly found will do.

        Raises:
            UnattainableError: A cell cannot be protected whatever is masked.
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
        """A pattern without its superfluous masks, as far as the time allows."""
        return Pattern(*SuppressionPruning(self.problem, rough.masked, rough.proofs, self._reasons).run(deadline))

    def _within(self, masked: BoolArray, attack: Threat) -> Flow | None:
        """A flow through cells that are masked anyway, where these are few: sought before any that costs something."""
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
        """Mask, in place, what one threat needs; whether there was time for it."""
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
