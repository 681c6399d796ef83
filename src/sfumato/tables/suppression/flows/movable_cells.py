"""The cells that flows may move and their prices, shared by all finders of local flows."""

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.cells.coordinates import Coordinates
from sfumato.tables.suppression.flows.grid import CellIndex
from sfumato.tables.suppression.problem import SuppressionProblem


class OpenCells:
    """Masked cells with their prices, and where all cells stand."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        self._problem = problem
        self._prices, self._open = prices.copy(), np.ones(problem.size, bool)
        self._codes, self._grid = coordinates.codes, CellIndex(coordinates)

    def open(self, shares: Numbers) -> None:
        """Open the masked cells."""
        self._open = shares > 0

    def reopen(self, cell: int, share: float) -> None:
        """Open or close one cell."""
        self._open[cell] = share > 0

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        self._prices[cells] = prices
