"""The cells that flows may move and their prices, shared by all finders of local flows."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.constraints import Coordinates
from sfumato.tables.cells.system import Numbers, Places
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


class CellIndex:
    """Finds cells by their codes."""

    def __init__(self, coordinates: Coordinates) -> None:
        sizes = [len(above) for above in coordinates.above]
        self._strides = np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]]).astype(np.int64)
        keys = coordinates.codes @ self._strides
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def cells(self, codes: Sequence[Places]) -> Places:
        """The cells of some codes, dimension by dimension; -1 where there is none."""
        keys = np.zeros((), np.int64)
        for numbers, stride in zip(codes, self._strides, strict=True):
            keys = keys[..., None] + numbers * stride
        places = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[places] == keys, self._order[places], -1)
