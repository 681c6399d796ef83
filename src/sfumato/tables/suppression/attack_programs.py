"""The attackers' linear programs for optimal suppression, solved in parallel."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np

from sfumato.errors import InternalError
from sfumato.tables.cells.system import Bounds, Numbers
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.linear_flows import FlowPrograms
from sfumato.tables.suppression.problem import GENEROUS, OUTSIDER, SLACK, Flow, SuppressionProblem, Threat

# Small capacity given to published cells while a cut is sought: of all equally violated cuts it selects a sparse one.
WHISPER = 1e-4


class AttackerProgram:
    """All attackers of a problem on one linear program, hot-started from one to the next.

    Deviations y from the true values satisfy M·y = 0 and stay within the capacities of suppressed cells. The largest
    deviation of a cell is the solution of a linear program; its dual names the cells whose suppression would allow a
    larger deviation.

    Capacities are limited to the need of the threat. In a network no flow exceeds it; in other tables it is multiplied
    by `generous`, so that no flow is missed.
    """

    def __init__(self, problem: SuppressionProblem, generous: float = 1.0) -> None:
        self._problem = problem
        self._generous = generous
        self._shares, self._end = np.zeros(problem.size), FOREVER
        zeros = np.zeros(problem.size)
        self._all = np.arange(problem.size, dtype=np.int32)
        self._highs = linear_program(problem.matrix, zeros, Bounds(zeros, zeros))

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        self._shares = shares

    def until(self, end: Deadline) -> None:
        """Set the time limit; an attack that is not finished by then counts as withstood."""
        self._end = end

    def directions(self, threat: Threat) -> Numbers | None:
        """Return multipliers d with sign · y_cell = Σ d_j · y_j over the others; None if the threat is withstood."""
        return self.attack(threat)[0]

    def attack(self, threat: Threat) -> tuple[Numbers | None, Numbers]:
        """Return the multipliers and the deviations of all cells, in needs, that move the cell furthest."""
        highs = self._highs
        self._bound(threat)
        highs.changeColCost(threat.cell, -float(threat.sign))
        answered = solved(highs, self._end.left)
        solution = highs.getSolution()
        highs.changeColCost(threat.cell, 0.0)
        if not answered:
            return self._unanswered()
        duals = np.array(solution.col_dual)
        reached = solution.col_value[threat.cell] * threat.sign
        own = 1.0 + threat.sign * duals[threat.cell]
        multipliers = -duals / own if reached < 1 - 1e-7 and own > 1e-9 else None
        return multipliers, np.array(solution.col_value)

    def _bound(self, threat: Threat) -> None:
        """Set the capacities in units of the need, so that every attack is equally well scaled."""
        limit = threat.need * self._generous
        room_up, room_down = self._problem.room(threat)
        up = np.minimum(room_up, limit) * self._shares / threat.need
        down = np.minimum(room_down, limit) * self._shares / threat.need
        up[threat.cell] = down[threat.cell] = 1.0
        self._highs.changeColsBounds(len(self._all), self._all, -down, up)

    def _unanswered(self) -> tuple[None, Numbers]:
        """Return no multipliers, because the time limit was reached."""
        if not self._end.over:
            raise InternalError("attacker")
        return None, np.zeros(self._problem.size)


# Maximum number of flows that are remembered for a threat.
MEMORY = 4
# Minimum number of threats for which a second thread saves more time than it costs.
MANY = 100
COUNT = 2


class FlowMemory:
    """Remembered flows of each threat; several, because consecutive points need different ones."""

    def __init__(self, finder: FlowPrograms) -> None:
        self._finder = finder
        self._flows: dict[Threat, list[Flow]] = {}
        self._attacks: dict[Threat, tuple[Flow, list[Threat]]] = {}

    def hold(self, threat: Threat, end: Deadline) -> bool:
        """Return whether a remembered or a new flow protects against a threat; that flow is tried first from now on."""
        flows = self._flows.setdefault(threat, [])
        place = next((place for place, flow in enumerate(flows) if self._fits(flow, threat)), None)
        if place is not None:
            flows.insert(0, flows.pop(place))
            return True
        flow = self._turned(threat) or self._finder.find(threat, end)
        if flow is not None:
            flows.insert(0, flow)
            del flows[MEMORY:]
        return flow is not None

    def _turned(self, threat: Threat) -> Flow | None:
        """Return the reversed flow of the opposite threat if it fits."""
        opposite = self._flows.get(threat.opposite)
        turned = opposite[0].turned(threat.need, threat.cell) if opposite else None
        return turned if turned is not None and self._fits(turned, threat) else None

    def _fits(self, flow: Flow, threat: Threat) -> bool:
        """Return whether a flow fits into the open capacity, as the attacker of a threat sees it."""
        if not flow.fits(self._finder.room_up, self._finder.room_down):
            return False
        return threat.attacker == OUTSIDER or flow.fits(*self._finder.problem.room(threat))

    def insiders(self, problem: SuppressionProblem) -> list[Threat]:
        """Return the attacks of insiders against which the known flows do not protect.

        A flow that agrees with the knowledge of an insider protects against this insider too, so it needs no attack.
        """
        threats: list[Threat] = []
        for threat in problem.threats:
            flows = self._flows.get(threat)
            if flows:
                known = self._attacks.get(threat)
                if known is None or known[0] is not flows[0]:
                    known = self._attacks[threat] = flows[0], _from_within(flows[0], problem, threat)
                threats += known[1]
        return threats


def _from_within(flow: Flow, problem: SuppressionProblem, threat: Threat) -> list[Threat]:
    """Return the attacks of insiders who can exclude a flow, each with the distance that it must cover for them."""
    attacks: dict[int, Threat] = {}
    for cell, amount in zip(flow.cells.tolist(), flow.amounts.tolist(), strict=True):
        for place, up, down in problem.insiders.get(cell, ()) if cell != threat.cell else ():
            inner = problem.with_insiders(threat, place) if place not in attacks else None
            if inner is not None:
                moved = amount * inner.need / threat.need
                if moved > up * (1 + SLACK) + 1e-9 or -moved > down * (1 + SLACK) + 1e-9:
                    attacks[place] = inner
    return list(attacks.values())


class ParallelAttackers:
    """Finds the threats against which a point of the master program does not protect.

    The problem alone determines how the threats are divided among threads, so the result is the same for any number of
    cores.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        count = COUNT if len(problem.threats) >= MANY else 1
        # If insiders attack, the flow of every threat is needed, to find the insiders who can exclude it. Capacities of
        # one need are faster to search, but may be too small except in networks.
        generous = GENEROUS if problem.attackers else 1.0
        self._finders = [FlowPrograms(problem, np.ones(problem.size), generous) for _ in range(count)]
        self._proofs = [FlowMemory(finder) for finder in self._finders]
        cells = sorted({threat.cell for threat in problem.threats})
        self._shift = {cell: place * count // len(cells) for place, cell in enumerate(cells)}

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        for finder in self._finders:
            finder.open(shares)

    def failed(self, threats: Sequence[Threat], end: Deadline) -> list[Threat]:
        """Return the threats that are not withstood, or not by the end, in their order; threads work in parallel."""
        if len(self._proofs) == 1:
            return [threat for threat in threats if end.over or not self._proofs[0].hold(threat, end)]
        shifts = [[threat for threat in threats if self._shift[threat.cell] == own] for own in range(len(self._proofs))]
        with ThreadPoolExecutor(len(shifts)) as pool:
            lost = set().union(*pool.map(_lost, self._proofs, shifts, repeat(end)))
        return [threat for threat in threats if threat in lost]

    def insiders(self) -> list[Threat]:
        """Return the attacks of single respondents against which the known flows do not protect."""
        return [threat for proofs in self._proofs for threat in proofs.insiders(self._problem)]


def _lost(proofs: FlowMemory, threats: Sequence[Threat], end: Deadline) -> set[Threat]:
    return {threat for threat in threats if end.over or not proofs.hold(threat, end)}
