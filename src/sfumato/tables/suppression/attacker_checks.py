"""All attackers at a point of the linear program: outsiders first, and insiders once most outsiders are kept off.

The capacity of a cell counts at most the need of a threat, as in the cuts themselves, so that a cell that is hardly
suppressed gives hardly any capacity. One program finds who succeeds; only for those a second, slower one looks for a
cut of few cells.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.tables.cells.system import Numbers
from sfumato.tables.deadline import Deadline
from sfumato.tables.suppression.attack_programs import WHISPER, AttackerProgram
from sfumato.tables.suppression.flows.flow import SLACK, Flow, flow_of
from sfumato.tables.suppression.master_problem import Cut, capacity_cut
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat

# Those within who were never heard of are asked where others give at most so many cuts, as a share of the threats.
FEW = 0.25
# By how much a point must violate a cut to make it worth a row.
LEAST = 1e-4
# How far a flow of an earlier point may exceed the room, in needs: a cut so little violated is not worth a row.
NEAR = 1e-5


class AttackerChecks:
    """Finds the capacity cuts that points violate; flows that withstand a threat are remembered for the next point."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        self._checks, self._cutters = AttackerProgram(problem), AttackerProgram(problem)
        self._flows: dict[Threat, Flow] = {}
        # Attacks from within that got through once: they are asked at every point.
        self._hostile: dict[Threat, None] = {}
        self._shares = np.zeros(problem.size)

    def cuts(self, shares: Numbers, end: Deadline) -> Iterator[Cut]:
        """The cuts with which threats answer that a point does not withstand."""
        self._shares = shares
        self._checks.open(shares)
        self._cutters.open(np.maximum(shares, WHISPER))
        self._cutters.until(end)
        held: list[tuple[Threat, Flow]] = []
        found, few = 0, FEW * len(self._problem.threats)
        for threat in (*self._problem.threats, *self._hostile):
            answer = None if end.over else self._answer(threat)
            if isinstance(answer, Cut):
                found += 1
                yield answer
            elif answer is not None and threat.attacker == OUTSIDER:
                held.append((threat, answer))
        for threat, flow in held if found <= few else ():
            yield from self._from_within(threat, flow, end)

    def _from_within(self, threat: Threat, flow: Flow, end: Deadline) -> Iterator[Cut]:
        """The cuts of those who know that a flow cannot be, unless another flow convinces them."""
        waiting = self._unconvinced(threat, flow)
        while waiting and not end.over:
            attack = self._problem.with_insiders(threat, waiting.pop(0))
            answer = None if attack is None or attack in self._hostile else self._answer(attack)
            if isinstance(answer, Cut) and attack is not None:
                self._hostile[attack] = None
                yield answer
            elif isinstance(answer, Flow):
                unconvinced = self._unconvinced(threat, answer)
                waiting = [other for other in waiting if other in unconvinced]

    def _answer(self, threat: Threat) -> Flow | Cut | None:
        """A flow, in units of the need, that withstands a threat, or a cut that says why there is none."""
        flow = self._remembered(threat)
        if flow is not None:
            return flow
        directions, values = self._checks.attack(threat)
        if directions is None:
            self._flows[threat] = flow_of(values, 1.0)
            return self._flows[threat]
        cut = capacity_cut(self._problem, threat, directions)
        if cut is None or cut.short(self._shares) < LEAST:
            # Where flows need not be networks' a point may withstand a threat that this room is too little for.
            return None
        sparse = self._cutters.directions(threat)
        other = None if sparse is None else capacity_cut(self._problem, threat, sparse)
        return cut if other is None or other.short(self._shares) < LEAST else other

    def _remembered(self, threat: Threat) -> Flow | None:
        """A flow of an earlier point, of the other side or of the outsider, that fits."""
        opposite = self._flows.get(threat.opposite)
        turned = None if opposite is None else Flow(opposite.cells, -opposite.amounts)
        known = (self._flows.get(threat), turned, self._flows.get(Threat(threat.cell, threat.sign, threat.need)))
        up, down = self._problem.room(threat)
        return next((flow for flow in known if flow is not None and self._fits(flow, threat, up, down)), None)

    def _fits(self, flow: Flow, threat: Threat, up: Numbers, down: Numbers) -> bool:
        """Whether a flow, in units of the need, fits into the room that the point opens."""
        cells, need = flow.cells, threat.need
        above = np.minimum(up[cells] / need, 1.0) * self._shares[cells] + NEAR
        below = np.minimum(down[cells] / need, 1.0) * self._shares[cells] + NEAR
        inside = (flow.amounts <= above) & (-flow.amounts <= below)
        return bool((inside | (cells == threat.cell)).all())

    def _unconvinced(self, threat: Threat, flow: Flow) -> list[int]:
        """Who knows that a flow, in units of the need, cannot be."""
        who: set[int] = set()
        for cell, amount in zip(flow.cells.tolist(), (flow.amounts * threat.need).tolist(), strict=True):
            for place, up, down in self._problem.insiders.get(cell, ()) if cell != threat.cell else ():
                if amount > up * (1 + SLACK) + 1e-6 or -amount > down * (1 + SLACK) + 1e-6:
                    who.add(place)
        return sorted(who)
