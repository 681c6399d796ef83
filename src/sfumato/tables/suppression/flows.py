"""Flows: cheapest deviations that move a threatened cell as far as needed, the proof that it is protected."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.programs import linear_program
from sfumato.tables.suppression.problem import Problem, Threat

# A flow may exceed the room by this share: the tolerance of the linear programs.
SLACK = 1e-7
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
        self._size = problem.size
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
        for cell in threat.known:
            self._bounds(cell, 0.0, 0.0)
        self._highs.run()
        solved = self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        values = np.array(self._highs.getSolution().col_value) if solved else None
        for cell in (threat.cell, *threat.known):
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

    def hold(self, threat: Threat) -> bool:
        """Whether a threat is withstood: by a flow remembered, or by a new one; it stands first from now on."""
        known = self._flows.setdefault(threat, [])
        place = next((place for place, flow in enumerate(known) if self._fits(flow)), None)
        if place is not None:
            known.insert(0, known.pop(place))
            return True
        found = self._turned(threat) or self._finder.find(threat)
        if found is not None:
            known.insert(0, found)
            del known[MEMORY:]
        return found is not None

    def _turned(self, threat: Threat) -> Flow | None:
        """The flow of the opposite threat turned round, when it fits."""
        opposite = self._flows.get(threat.opposite)
        turned = opposite[0].turned(threat.need, threat.cell) if opposite else None
        return turned if turned is not None and self._fits(turned) else None

    def _fits(self, flow: Flow) -> bool:
        return flow.fits(self._finder.room_up, self._finder.room_down)

    def put(self, threat: Threat, flow: Flow) -> None:
        """Remember a flow that was found elsewhere."""
        self._flows[threat] = [flow]

    def users(self, cell: int, threats: Iterable[Threat]) -> list[Threat]:
        """The threats whose flow moves a cell."""
        return [threat for threat in threats if not (flows := self._flows.get(threat)) or cell in flows[0].cells]

    def insiders(self, problem: Problem) -> list[Threat]:
        """The attacks of single respondents that the flows at hand do not withstand already.

        A flow that leaves a respondent's own cell alone protects from the respondent too, so only the others count.
        """
        found = []
        for threat in problem.threats:
            flows = self._flows.get(threat)
            own = flows[0].cells[problem.alone[flows[0].cells]] if flows else ()
            found += [
                Threat(threat.cell, threat.sign, threat.need, (int(cell),)) for cell in own if cell != threat.cell
            ]
        return found
