"""Flows along cubes: one other code in each dimension; all corners move by the same amount, with alternating signs.

Corners that differ from the attacked cell in an odd number of dimensions move against it, the others with it: every sum
is unchanged. If codes have codes below them, a whole branch moves, from the finest code up to where the two branches
meet. Nothing is solved: the cheapest of the examined cubes is taken. It need not be the cheapest flow, but in tables of
many dimensions it takes milliseconds (Giessing, S., Repsilber, D. (2002). Tools and strategies to protect multiple
tables with the GHQUAR cell suppression engine, https://doi.org/10.1007/3-540-47804-3).
"""

import math
from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.constraints import NOWHERE, Coordinates
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.problem import Flow, SuppressionProblem, Threat
from sfumato.values import Value


class OpenCells:
    """Suppressed cells with their prices, and the coordinates of all cells."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        self._problem = problem
        self._prices, self._open = prices.copy(), np.ones(problem.size, bool)
        self._codes, self._grid = coordinates.codes, CellIndex(coordinates)

    def open(self, shares: Numbers) -> None:
        """Open the suppressed cells."""
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
        """Return the cells of all combinations of the codes of each dimension; -1 for a missing cell."""
        keys = np.zeros((), np.int64)
        for numbers, stride in zip(codes, self._strides, strict=True):
            keys = keys[..., None] + numbers * stride
        places = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[places] == keys, self._order[places], -1)


NOTHING = -1
# Approximate number of codes whose moves are cached.
REMEMBERED = 4_000_000
# Approximate number of cubes that are examined, and the maximum number of cells in all of them.
CUBES, CELLS = 8_000, 40_000
# Price of a cell that cannot move far enough.
DEAR = 1e9


class Branches(Value):
    """Ways to move in one dimension.

    Attributes:
        codes: The codes that at least one way moves.
        together: Ways by codes; 1 if a code moves in the same direction as the code of the cell.
        against: Ways by codes; 1 if a code moves in the opposite direction.
    """

    codes: Places
    together: Numbers
    against: Numbers


class BranchMoves:
    """All ways to move in one dimension, by the code of the cell to be moved."""

    def __init__(self, above: Places) -> None:
        self._paths = paths_of(above)
        self._known: dict[tuple[int, int], tuple[Places, Places]] = {}
        self.size = len(above)

    def cheapest(self, own: int, line: Numbers, width: int) -> Branches:
        """Return the cheapest ways, judged by the cells that differ in this dimension alone.

        Args:
            own: The code of the cell to be moved.
            line: The cost of the cells of each code, for moves in the same and in the opposite direction.
            width: Number of ways to choose, in addition to the one up to the total.
        """
        together, against = np.append(line[0], 0.0), np.append(line[1], 0.0)
        level = int((self._paths == own).any(axis=0).argmax())
        below = np.flatnonzero(self._paths[:, level] == own)
        cheapest = together[self._paths[below, level:]].sum(axis=1).argmin() if len(below) > 1 else 0
        moved, opposite = self._from(int(below[cheapest]), level)
        prices = together[moved].sum(axis=1) + against[opposite].sum(axis=1)
        # The last way extends up to the total.
        chosen = np.append(np.argsort(prices[:-1], kind="stable")[:width], len(moved) - 1)
        moved, opposite = moved[chosen], opposite[chosen]
        codes = np.unique(np.concatenate([moved, opposite]))
        codes = codes[codes != NOTHING]
        return Branches(codes, _counted(moved, codes), _counted(opposite, codes))

    def _from(self, detail: int, level: int) -> tuple[Places, Places]:
        """Return the codes that move with a detail of a level, and those that may move against it, for each way."""
        if len(self._known) * self._paths.size > REMEMBERED:
            self._known.clear()
        if (detail, level) not in self._known:
            first = self._paths[detail]
            met = (self._paths == first).cumprod(axis=1).sum(axis=1)
            # Branches that meet below the code of the cell do not change it.
            others = np.flatnonzero(met <= level)
            after = np.arange(len(first)) >= met[others, None]
            moved, opposite = np.where(after, first, NOTHING), np.where(after, self._paths[others], NOTHING)
            nothing = np.full(len(first), NOTHING)
            self._known[detail, level] = np.vstack([moved, first]), np.vstack([opposite, nothing])
        return self._known[detail, level]


def _counted(moved: Places, codes: Places) -> Numbers:
    """Return for each way which codes move."""
    return np.asarray((moved[:, :, None] == codes).any(axis=1), np.float64)


def paths_of(above: Places) -> Places:
    """Return for each finest code the codes from the total down to it, padded at the end."""
    details = np.setdiff1d(np.arange(len(above)), above)
    paths: list[list[int]] = []
    for code in details.tolist():
        path = [code]
        while above[path[0]] >= 0:
            path.insert(0, int(above[path[0]]))
        paths.append(path)
    longest = max(len(path) for path in paths)
    return np.array([path + [NOTHING] * (longest - len(path)) for path in paths], np.int64)


class HypercubeFlows(OpenCells):
    """Finds flows along cubes."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        super().__init__(problem, prices, coordinates)
        self._ways = [BranchMoves(above) for above in coordinates.above]
        self._width = max(int(CUBES ** (1 / len(self._ways))), 2)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """Return the cheapest cube at a threatened cell; None if there is none."""
        if end.over or self._codes[threat.cell].min() == NOWHERE:
            return None
        costs, width = self._costs(threat), self._width
        branches = self._branches(threat.cell, costs, width)
        while width > 1 and math.prod(len(branch.codes) for branch in branches) > CELLS:
            width //= 2
            branches = self._branches(threat.cell, costs, width)
        return self._cheapest_cube(threat, branches, costs)

    def _branches(self, cell: int, costs: Numbers, width: int) -> list[Branches]:
        """Return the `width` cheapest ways to move in each dimension."""
        own, branches = self._codes[cell], []
        for dimension, ways in enumerate(self._ways):
            codes = [np.array([code]) for code in own]
            codes[dimension] = np.arange(ways.size)
            line = self._grid.cells(codes).ravel()
            branches.append(ways.cheapest(int(own[dimension]), costs[:, line], width))
        return branches

    def _costs(self, threat: Threat) -> Numbers:
        """Return the cost of each cell for moves with and against the threatened cell; missing cells last."""
        up, down = self._problem.room(threat)
        directions = (up, down) if threat.sign > 0 else (down, up)
        costs = np.full((2, self._problem.size + 1), DEAR)
        for own, room in zip(costs, directions, strict=True):
            own[:-1] = np.where(self._open & (room >= threat.need), self._prices, DEAR)
        costs[:, threat.cell] = 0.0, DEAR
        return costs

    def _cheapest_cube(self, threat: Threat, branches: list[Branches], costs: Numbers) -> Flow | None:
        cells = self._grid.cells([branch.codes for branch in branches])
        together, against = costs[0, cells], costs[1, cells]
        for branch in branches:
            # The first remaining dimension becomes the axis of the options and is moved to the end.
            together, against = (
                np.tensordot(together, branch.together, (0, 1)) + np.tensordot(against, branch.against, (0, 1)),
                np.tensordot(against, branch.together, (0, 1)) + np.tensordot(together, branch.against, (0, 1)),
            )
        best = np.unravel_index(int(np.argmin(together)), together.shape)
        if together[best] >= DEAR:
            return None
        amounts = np.full((), threat.sign * threat.need)
        for branch, option in zip(branches, best, strict=True):
            amounts = amounts[..., None] * (branch.together[option] - branch.against[option])
        return self._flow(cells[amounts != 0], amounts[amounts != 0])

    def _flow(self, cells: Places, amounts: Numbers) -> Flow | None:
        """Return the flow; None if it violates a linear constraint beyond those of the codes."""
        order = np.argsort(cells)
        cells, amounts = cells[order], amounts[order]
        changed = self._problem.columns[:, cells] @ amounts
        balanced = np.abs(changed).max(initial=0.0) <= 1e-9 * np.abs(amounts).max()
        return Flow(cells, amounts) if balanced else None
