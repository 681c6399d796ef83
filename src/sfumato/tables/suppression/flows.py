"""Flows: cheapest deviations that move a threatened cell as far as needed, the proof that it is protected."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.programs import linear_program
from sfumato.tables.suppression.problem import OUTSIDER, Problem, Threat

# A flow may exceed the room by this share: the tolerance of the linear programs.
SLACK = 1e-7
# Room allowed to a cell, in needs, where one need would not do: in tables that are no network.
GENEROUS = 1e3
# How many flows are remembered for a threat.
MEMORY = 4


@dataclass(frozen=True, slots=True)
class Flow:
    """Deviations from the true values, with M·y = 0, that withstand one threat."""

    cells: Places
    amounts: Numbers

    def turned(self, need: float, own: int) -> "Flow":
        """The same deviations the other way round, as far as another need asks."""
        amount = abs(float(self.amounts[self.cells == own][0]))
        return Flow(self.cells, self.amounts * (-need / amount))

    def fits(self, up: Numbers, down: Numbers) -> bool:
        """Whether the flow fits into the room that each cell has."""
        above = self.amounts <= up[self.cells] * (1 + SLACK) + 1e-9
        below = -self.amounts <= down[self.cells] * (1 + SLACK) + 1e-9
        return bool(above.all() and below.all())


class FlowFinder:
    """Finds flows within the room that is open, cheapest first: both directions of a cell are columns of their own.

    Capacities are cut at the largest need: in a network no more than that ever flows, elsewhere `generous` multiplies
    it so that nothing is lost.
    """

    def __init__(self, problem: Problem, prices: Numbers, generous: float = 1.0) -> None:
        from scipy.sparse import hstack

        limit = problem.largest_need * generous
        self.problem, self._size = problem, problem.size
        self._up, self._down = np.minimum(problem.up, limit), np.minimum(problem.down, limit)
        self.room_up, self.room_down = self._up.copy(), self._down.copy()
        self._all = np.arange(2 * self._size, dtype=np.int32)
        both = hstack([problem.matrix, -problem.matrix])
        room = np.concatenate([self._up, self._down])
        self._highs = linear_program(both, np.concatenate([prices, prices]), Bounds(np.zeros(len(room)), room))

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity (1 for a masked cell, 0 for a published one)."""
        self.room_up, self.room_down = self._up * shares, self._down * shares
        room = np.concatenate([self.room_up, self.room_down])
        self._highs.changeColsBounds(len(self._all), self._all, np.zeros(len(room)), room)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        self.room_up[cell], self.room_down[cell] = self._up[cell] * share, self._down[cell] * share
        self._bounds(cell, self.room_up[cell], self.room_down[cell])

    def reprice(self, prices: Numbers) -> None:
        """Change what deviations cost."""
        self._highs.changeColsCost(len(self._all), self._all, np.concatenate([prices, prices]))

    def find(self, threat: Threat) -> Flow | None:
        """The cheapest flow that withstands a threat, or None when there is none."""
        import highspy

        forward, backward = (0, self._size) if threat.sign > 0 else (self._size, 0)
        self._highs.changeColBounds(threat.cell + forward, threat.need, threat.need)
        self._highs.changeColBounds(threat.cell + backward, 0.0, 0.0)
        own = self.problem.parts[threat.attacker] if threat.attacker != OUTSIDER else None
        for cell, up, down in zip(own.cells.tolist(), own.up, own.down, strict=True) if own else ():
            if cell != threat.cell:
                self._bounds(cell, min(up, self.room_up[cell]), min(down, self.room_down[cell]))
        self._highs.run()
        solved = self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        values = np.array(self._highs.getSolution().col_value) if solved else None
        for cell in (threat.cell, *(own.cells.tolist() if own else ())):
            self._bounds(cell, self.room_up[cell], self.room_down[cell])
        return None if values is None else self._flow(values, threat.need)

    def _bounds(self, cell: int, up: float, down: float) -> None:
        self._highs.changeColBounds(cell, 0.0, up)
        self._highs.changeColBounds(cell + self._size, 0.0, down)

    def _flow(self, values: Numbers, need: float) -> Flow:
        net = values[: self._size] - values[self._size :]
        cells = np.flatnonzero(np.abs(net) > 1e-9 * need)
        return Flow(cells, net[cells])


class Proofs:
    """The flows found so far: a threat of which one still fits needs no new one.

    Several are remembered for each threat, because the points to be judged take turns.
    """

    def __init__(self, finder: FlowFinder) -> None:
        self._finder = finder
        self._flows: dict[Threat, list[Flow]] = {}
        self._attacks: dict[Threat, tuple[Flow, list[Threat]]] = {}

    def hold(self, threat: Threat) -> bool:
        """Whether a threat is withstood: by a flow remembered, or by a new one; it stands first from now on."""
        flows = self._flows.setdefault(threat, [])
        place = next((place for place, flow in enumerate(flows) if self._fits(flow, threat)), None)
        if place is not None:
            flows.insert(0, flows.pop(place))
            return True
        flow = self._turned(threat) or self._finder.find(threat)
        if flow is not None:
            flows.insert(0, flow)
            del flows[MEMORY:]
        return flow is not None

    def _turned(self, threat: Threat) -> Flow | None:
        """The flow of the opposite threat turned round, when it fits."""
        opposite = self._flows.get(threat.opposite)
        turned = opposite[0].turned(threat.need, threat.cell) if opposite else None
        return turned if turned is not None and self._fits(turned, threat) else None

    def _fits(self, flow: Flow, threat: Threat) -> bool:
        """Whether a flow fits into the room that is open, as the attacker of a threat sees it."""
        if not flow.fits(self._finder.room_up, self._finder.room_down):
            return False
        return threat.attacker == OUTSIDER or flow.fits(*self._finder.problem.room(threat))

    def put(self, threat: Threat, flow: Flow) -> None:
        """Remember a flow that was found elsewhere."""
        self._flows[threat] = [flow]

    def users(self, cell: int, threats: Iterable[Threat]) -> list[Threat]:
        """The threats whose flow moves a cell."""
        return [threat for threat in threats if not (flows := self._flows.get(threat)) or cell in flows[0].cells]

    def insiders(self, problem: Problem) -> list[Threat]:
        """The attacks from within that the flows at hand do not withstand already.

        A flow that agrees with what somebody knows protects from him too, so only the others count.
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


def _from_within(flow: Flow, problem: Problem, threat: Threat) -> list[Threat]:
    """The attacks of those who know that a flow cannot be, as far as it must reach for them."""
    attacks: dict[int, Threat] = {}
    for cell, amount in zip(flow.cells.tolist(), flow.amounts.tolist(), strict=True):
        for place, up, down in problem.insiders.get(cell, ()) if cell != threat.cell else ():
            inner = problem.from_within(threat, place) if place not in attacks else None
            if inner is not None:
                moved = amount * inner.need / threat.need
                if moved > up * (1 + SLACK) + 1e-9 or -moved > down * (1 + SLACK) + 1e-9:
                    attacks[place] = inner
    return list(attacks.values())
