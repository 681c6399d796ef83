"""A flow: deviations that move a threatened cell by its protection level, which proves that it is protected."""

from typing import Protocol

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.problem import Threat

# A flow may exceed the room by this share: the tolerance of the linear programs.
SLACK = 1e-7
# Room allowed to a cell, in needs, where one need would not do: in tables that are no network.
GENEROUS = 1e3


@dataclass(frozen=True, slots=True)
class Flow:
    """Deviations from the true values, with M·y = 0, that withstand one threat."""

    cells: Places
    amounts: Numbers

    def reach(self, own: int) -> float:
        """How far the threatened cell moves."""
        return abs(float(self.amounts[self.cells == own][0]))

    def turned(self, need: float, own: int) -> "Flow":
        """The same deviations the other way round, as far as another need asks."""
        return Flow(self.cells, self.amounts * (-need / self.reach(own)))

    def fits(self, up: Numbers, down: Numbers) -> bool:
        """Whether the flow fits into the room that each cell has."""
        above = self.amounts <= up[self.cells] * (1 + SLACK) + 1e-9
        below = -self.amounts <= down[self.cells] * (1 + SLACK) + 1e-9
        return bool(above.all() and below.all())


class Finder(Protocol):
    """What finds flows within the room that is open, cheapest first."""

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity (1 for a masked cell, 0 for a published one)."""

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest flow that withstands a threat, or None when there is none, or none by the end."""


def flow_of(net: Numbers, need: float) -> Flow:
    """A flow from the deviations of all cells."""
    cells = np.flatnonzero(np.abs(net) > 1e-9 * need)
    return Flow(cells, net[cells])
