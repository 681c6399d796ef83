"""Protected patterns by heuristics: cheapest flows one threat after another, then superfluous masks are removed.

Each threat in turn gets the cheapest deviations that withstand it, where cells already masked cost almost nothing
(Kelly, Golden and Assad 1992, doi:10.1002/net.3230220407). A pass in order of cost then publishes again what no
threat needs.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Mask, Numbers
from sfumato.tables.cells.knowledge import Kind
from sfumato.tables.suppression.flows import GENEROUS, Flow, FlowFinder, Proofs
from sfumato.tables.suppression.problem import OUTSIDER, Problem, Threat

# What a masked cell costs a flow, as a share of its own cost: enough to prefer short flows.
REUSE = 1e-4


class PatternSearch:
    """Finds protected patterns of one problem, remembering the flows it found between searches.

    When the time is over a pattern may keep superfluous masks; it is protected all the same.
    """

    def __init__(self, problem: Problem, end: float = math.inf) -> None:
        self.problem = problem
        self._end = end
        largest = float(problem.costs.max(initial=0.0))
        self._costs = problem.costs * (1e3 / largest if largest > 0 else 1.0) + 1e-3
        self._threats = sorted(problem.threats, key=lambda threat: -threat.need)
        self._flows: dict[Threat, Flow] = {}
        self._insiders: list[Threat] = []
        self._finder = FlowFinder(problem, self._costs)

    def complete(self, start: Mask, guide: Numbers | None = None) -> Mask:
        """A protected pattern built on `start` and the forced cells, without superfluous masks.

        The flows of the pattern may call new insiders: then it starts over with their attacks too.

        Raises:
            UnattainableError: A cell cannot be protected whatever is masked.
        """
        masked = start | self.problem.forced
        wished = self._costs if guide is None else self._costs * (1.0 - 0.9 * guide)
        while True:
            for threat in (*self._threats, *self._insiders):
                self._mask(threat, masked, wished)
            pruning = Pruning(self.problem, masked, [*self._threats, *self._insiders], self._flows)
            tried = set(self._insiders)
            new = [threat for threat in pruning.insiders() if threat not in tried]
            if not new:
                return pruning.run(self._end)
            self._insiders += new

    def _mask(self, threat: Threat, masked: Mask, wished: Numbers) -> None:
        """Mask, in place, what one threat needs."""
        if self._withstood(threat, masked):
            return
        prices = np.where(masked, self._costs * REUSE, wished)
        self._finder.reprice(prices)
        flow = self._finder.find(threat) or FlowFinder(self.problem, prices, GENEROUS).find(threat)
        if flow is None:
            raise unprotectable(self.problem, threat)
        self._flows[threat] = flow
        masked[flow.cells] = True

    def _withstood(self, threat: Threat, masked: Mask) -> bool:
        """Whether a flow found earlier, or the opposite one turned round, runs through masked cells only."""
        flow, opposite = self._flows.get(threat), self._flows.get(threat.opposite)
        if flow is not None and masked[flow.cells].all():
            return True
        if opposite is None or not masked[opposite.cells].all():
            return False
        turned = opposite.turned(threat.need, threat.cell)
        if not turned.fits(*self.problem.room(threat)):
            return False
        self._flows[threat] = turned
        return True


class Pruning:
    """Publishes again, the dearest first, the masked cells that no threat needs."""

    def __init__(self, problem: Problem, masked: Mask, threats: list[Threat], flows: Mapping[Threat, Flow]) -> None:
        self._masked = masked
        self._cells = np.flatnonzero(masked)
        self._problem = problem.part(self._cells, threats)
        prices = self._problem.costs / max(float(problem.costs.max(initial=0.0)), 1e-9) * 1e3 + 1e-3
        self._finder = FlowFinder(self._problem, prices, GENEROUS)
        self._proofs = Proofs(self._finder)
        self._recall(threats, flows)
        self._threats = [threat for threat in self._problem.threats if self._proofs.hold(threat)]
        self._seen = {threat for threat in self._threats if threat.attacker != OUTSIDER}

    def _recall(self, threats: list[Threat], flows: Mapping[Threat, Flow]) -> None:
        """Take over the flows that run through masked cells."""
        for threat, own in zip(threats, self._problem.threats, strict=True):
            flow = flows.get(threat)
            if flow is not None and self._masked[flow.cells].all():
                self._proofs.put(own, Flow(np.searchsorted(self._cells, flow.cells), flow.amounts))

    def insiders(self) -> list[Threat]:
        """The attacks of single respondents that this pattern may not withstand, in the cells of the whole problem."""
        base = [threat for threat in self._threats if threat.attacker == OUTSIDER]
        new = self._proofs.insiders(self._problem.with_threats(base))
        return [replace(threat, cell=int(self._cells[threat.cell])) for threat in new]

    def run(self, end: float = math.inf) -> Mask:
        """The pattern without the superfluous masks, as far as the time allows."""
        kept = self._masked.copy()
        free = np.flatnonzero(~self._problem.forced)
        for cell in free[np.argsort(-self._problem.costs[free], kind="stable")]:
            if time.monotonic() > end:
                break
            self._finder.reopen(int(cell), 0.0)
            if self._withstood(int(cell)):
                kept[self._cells[cell]] = False
            else:
                self._finder.reopen(int(cell), 1.0)
        return kept

    def _withstood(self, cell: int) -> bool:
        users = self._proofs.users(cell, self._threats)
        return all(self._proofs.hold(threat) for threat in users) and self._insiders_withstood()

    def _insiders_withstood(self) -> bool:
        """New flows may lean on cells whose respondents attack: those attacks count from now on."""
        if not self._problem.attackers:
            return True
        base = self._problem.with_threats([threat for threat in self._threats if threat.attacker == OUTSIDER])
        new = [threat for threat in self._proofs.insiders(base) if threat not in self._seen]
        if not all(self._proofs.hold(threat) for threat in new):
            return False
        self._seen.update(new)
        self._threats += new
        return True


def unprotectable(problem: Problem, threat: Threat) -> UnattainableError:
    """The error for a cell that no pattern protects; `rows` holds its place in the table, counted from 1."""
    if threat.attacker == OUTSIDER:
        who, help_ = "", "Join it with another category, or allow more cells to be masked."
    else:
        attacker = problem.attackers[threat.attacker]
        who = f" from {attacker.name}"
        option = "coalition: 1" if attacker.kind is Kind.COALITION else f"{attacker.kind}: false"
        help_ = (
            f"Join it with another category, or allow more cells to be masked; attackers: {{{option}}} leaves this "
            "attacker out, and the report will say so."
        )
    return UnattainableError(
        f"an unsafe cell cannot be protected{who} whatever else is masked.",
        help_,
        "unprotectable",
        rows=[int(problem.places[threat.cell]) + 1],
    )
