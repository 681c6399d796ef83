"""Choose how to find flows: programs over all cells or over boxes, paths in a graph, or cubes."""

from typing import Any

import numpy as np

from sfumato.tables.cells.constraints import NOWHERE, Coordinates
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.hypercube_flows import HypercubeFlows, OpenCells
from sfumato.tables.suppression.linear_flows import DeferredFinder, FlowPrograms
from sfumato.tables.suppression.problem import GENEROUS, OUTSIDER, SLACK, Finder, Flow, SuppressionProblem, Threat

# Approximate numbers of cells in a box; a larger box is tried if a smaller one contains no flow.
BOX_CELLS = (350, 1_500)
# Price of a missing or closed cell in the choice of codes.
DEAR = 1e3
# Up to this many cells, one program over all of them is fast enough and finds the cheapest flow.
FEW_CELLS = 2_000


class Finders:
    """Several finders, tried in order; after the patience limit a faster one is used."""

    def __init__(self, first: Finder, last: Finder | None = None, quick: Finder | None = None) -> None:
        self._first, self._last, self._quick = first, last, quick
        self._all = [finder for finder in (first, last, quick) if finder is not None]

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity."""
        for finder in self._all:
            finder.open(shares)

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""
        for finder in self._all:
            finder.reopen(cell, share)

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        for finder in self._all:
            finder.reprice(cells, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER, patience: Deadline = FOREVER) -> Flow | None:
        """Return a flow that protects against a threat; None if there is none, or none is found in time.

        Args:
            end: When the search ends.
            patience: Until when the cheapest flow is sought; after that, any flow that is found quickly is accepted.
        """
        if self._quick is not None and not patience.over:
            flow = self._thorough(threat, min(end, patience, key=lambda moment: moment.left))
            if flow is not None or not patience.over:
                return flow
        flow = None if self._quick is None else self._quick.find(threat, end)
        return flow or self._thorough(threat, end)

    def _thorough(self, threat: Threat, end: Deadline) -> Flow | None:
        flow = self._first.find(threat, end)
        return flow if flow is not None or self._last is None else self._last.find(threat, end)


def finder_for(problem: SuppressionProblem, prices: Numbers) -> Finders:
    """Return a finder that finds a flow of a problem whenever one exists.

    Args:
        prices: What deviations cost.
    """
    last = DeferredFinder(problem, prices)
    if problem.size <= FEW_CELLS:
        return Finders(FlowPrograms(problem, prices), last)
    first = local_finder_for(problem, prices, FEW_CELLS)
    if isinstance(first, FlowPrograms):
        return Finders(first)
    if isinstance(first, Boxes) and problem.coordinates is not None:
        return Finders(first, last, HypercubeFlows(problem, prices, problem.coordinates))
    return Finders(first, last)


def local_finder_for(problem: SuppressionProblem, prices: Numbers, few: int) -> Finder:
    """Return a finder that searches large problems only near the threatened cell.

    Args:
        prices: What deviations cost.
        few: Maximum number of cells for one program over all of them.
    """
    network = network_of(problem.matrix) if problem.size > few else None
    if network is not None:
        return Paths(problem, prices, *network)
    if problem.size > few and problem.coordinates is not None:
        return Boxes(problem, prices, problem.coordinates)
    return FlowPrograms(problem, prices, GENEROUS)


# A threatened cell is moved along a cycle of cells that all have the capacity needed. If only several cycles together
# have it, a linear program is solved.
class Paths:
    """Finds flows along cheapest paths."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, plus: Places, minus: Places) -> None:
        self._problem = problem
        self._plus, self._minus = plus, minus
        self._prices, self._closed = prices.copy(), np.zeros(problem.size, bool)
        self._up, self._down = problem.up * (1 + SLACK) + 1e-9, problem.down * (1 + SLACK) + 1e-9
        self._starts, self._cells, self._others, self._ends = _edges(plus, minus, int(max(plus.max(), minus.max())) + 1)
        self._open_prices = self._prices.copy()

    def open(self, shares: Numbers) -> None:
        """Open the suppressed cells."""
        self._closed = shares <= 0
        self._open_prices = np.where(self._closed, np.inf, self._prices)

    def reopen(self, cell: int, share: float) -> None:
        """Open or close one cell."""
        self._closed[cell] = share <= 0
        self._open_prices[cell] = np.inf if share <= 0 else self._prices[cell]

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""
        self._prices[cells] = prices
        self._open_prices[cells] = np.where(self._closed[cells], np.inf, prices)

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """Return the cheapest cycle that protects against a threat; None if there is none."""
        from sfumato.tables.suppression.kernels import cheapest_path

        if end.over:
            return None
        part = self._problem.part_of(threat.attacker) if threat.attacker != OUTSIDER else None
        own = np.zeros(0, np.int64) if part is None else part.cells
        kept = self._up[own], self._down[own]
        if part is not None:
            self._up[own], self._down[own] = np.minimum(kept[0], part.up), np.minimum(kept[1], part.down)
        ends = int(self._plus[threat.cell]), int(self._minus[threat.cell])
        start, goal = ends if threat.sign > 0 else ends[::-1]
        graph = self._starts, self._cells, self._others, self._ends
        room = self._open_prices, self._up, self._down
        path, signs = cheapest_path(*graph, *room, threat.need, threat.cell, start, goal)
        self._up[own], self._down[own] = kept
        if not len(path) and start != goal:
            return None
        cells = np.append(path, threat.cell)
        order = np.argsort(cells)
        return Flow(cells[order], (np.append(signs, threat.sign) * threat.need)[order])


def _edges(plus: Places, minus: Places, nodes: int) -> tuple[Places, Places, Places, BoolArray]:
    """Return the edges of every node: their offsets, cells, opposite nodes, and directions."""
    here, there = np.concatenate([plus, minus]), np.concatenate([minus, plus])
    cells, ends = np.tile(np.arange(len(plus)), 2), np.repeat([True, False], len(plus))
    order = np.argsort(here, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=nodes))])
    return starts, cells[order], there[order], ends[order]


def network_of(matrix: Any) -> tuple[Places, Places] | None:
    """Return for each cell the linear constraints with coefficient 1 and -1, after some constraints changed sign.

    None if the table is not a network: a cell occurs in three constraints, or no choice of signs works.
    """
    columns = matrix.tocsc()
    columns.sort_indices()
    degree = np.diff(columns.indptr)
    if degree.max(initial=0) > 2 or (np.abs(columns.data) != 1).any():
        return None
    rows, size = matrix.shape
    first, second = np.full(size, rows), np.full(size, rows)
    own, both = degree > 0, degree == 2
    first[own], second[both] = columns.indices[columns.indptr[:-1][own]], columns.indices[columns.indptr[:-1][both] + 1]
    one, two = columns.data[columns.indptr[:-1][both]], columns.data[columns.indptr[:-1][both] + 1]
    signs = _signs(first[both], second[both], -one * two, rows)
    if signs is None:
        return None
    coefs = np.ones(size)
    coefs[own] = columns.data[columns.indptr[:-1][own]] * signs[first[own]]
    return np.where(coefs > 0, first, second), np.where(coefs > 0, second, first)


def _signs(first: Places, second: Places, product: Numbers, rows: int) -> Numbers | None:
    """Return signs of constraints with the given product for each pair; None if there are none."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    pairs = np.concatenate([first, second]), np.concatenate([second, first])
    links = csr_matrix((np.ones(2 * len(first)), pairs), shape=(rows, rows))
    wanted = dict(zip(zip(first.tolist(), second.tolist(), strict=True), product.tolist(), strict=True))
    signs = np.ones(rows)
    _, labels = connected_components(links, directed=False)
    for root in np.unique(labels, return_index=True)[1]:
        order, before = breadth_first_order(links, root, directed=False)
        for node in order[1:].tolist():
            last = int(before[node])
            signs[node] = signs[last] * wanted.get((last, node), wanted.get((node, last), 1.0))
    return signs if (signs[first] * signs[second] == product).all() else None


# Deviations among siblings change no total above them, so a small box usually contains a flow. The flow need not be
# the cheapest of the whole table.
class Boxes(OpenCells):
    """Finds flows in boxes around threatened cells."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        super().__init__(problem, prices, coordinates)
        self._columns = problem.columns
        self._near = [_near(above) for above in coordinates.above]
        self._widths = [max(round(cells ** (1 / len(self._near))), 3) for cells in BOX_CELLS]

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """Return the cheapest flow in a box around the threatened cell; None if there is none."""
        if self._codes[threat.cell].min() == NOWHERE:
            return None
        flows = (self._found(threat, width, end) for width in self._widths)
        return next((flow for flow in flows if flow is not None), None)

    def _found(self, threat: Threat, width: int, end: Deadline) -> Flow | None:
        cells = self._box(threat.cell, width)
        cells = cells[self._open[cells] | (cells == threat.cell)]
        up, down = self._room(threat, cells)
        matrix = self._columns[:, cells]
        matrix = matrix[np.unique(matrix.indices)]
        return _solved(matrix, cells, self._prices[cells], (up, down), threat, end)

    def _room(self, threat: Threat, cells: Places) -> tuple[Numbers, Numbers]:
        """Return the capacities of the cells of a box, as the attacker sees them."""
        limit = threat.need * GENEROUS
        up, down = np.minimum(self._problem.up[cells], limit), np.minimum(self._problem.down[cells], limit)
        if threat.attacker != OUTSIDER:
            part = self._problem.part_of(threat.attacker)
            places = np.searchsorted(cells, part.cells)
            here = (places < len(cells)) & (cells[np.minimum(places, len(cells) - 1)] == part.cells)
            up[places[here]] = np.minimum(up[places[here]], part.up[here])
            down[places[here]] = np.minimum(down[places[here]], part.down[here])
        own = int(np.searchsorted(cells, threat.cell))
        up[own], down[own] = (threat.need, 0.0) if threat.sign > 0 else (0.0, threat.need)
        return up, down

    def _box(self, cell: int, width: int) -> Places:
        """Return the cells of a box: in each dimension, the code of the cell and the cheapest codes near it."""
        own = self._codes[cell]
        chosen = [np.array([code]) for code in own]
        for dimension, near in enumerate(self._near):
            others = near[own[dimension]]
            if len(others) >= width:
                trial = [*chosen[:dimension], others, *chosen[dimension + 1 :]]
                prices = self._price(trial).mean(axis=tuple(set(range(len(own))) - {dimension}))
                others = others[np.argsort(prices, kind="stable")[: width - 1]]
            chosen[dimension] = np.concatenate([[own[dimension]], others])
        cells = self._grid.cells(chosen).ravel()
        return np.sort(cells[cells >= 0])

    def _price(self, codes: list[Places]) -> Numbers:
        """Return the cost of the cells of some codes."""
        cells = self._grid.cells(codes)
        prices = np.minimum(np.where(self._open[cells], self._prices[cells], DEAR), DEAR)
        return np.where(cells < 0, DEAR, prices)


def _near(above: Places) -> list[Places]:
    """Return the siblings of each code; for the total, its parts."""
    parts = [np.flatnonzero(above == code) for code in range(len(above))]
    return [parts[code] if upper < 0 else parts[upper][parts[upper] != code] for code, upper in enumerate(above)]


def _solved(
    matrix: Any, cells: Places, prices: Numbers, room: tuple[Numbers, Numbers], threat: Threat, end: Deadline
) -> Flow | None:
    """Return the cheapest flow over some cells; None if there is none."""
    from scipy.sparse import hstack

    up, down = room
    own = int(np.searchsorted(cells, threat.cell))
    low = np.zeros(2 * len(cells))
    low[own if threat.sign > 0 else own + len(cells)] = threat.need
    highs = linear_program(
        hstack([matrix, -matrix]), np.concatenate([prices, prices]), Bounds(low, np.concatenate([up, down]))
    )
    if not solved(highs, end.left):
        return None
    values = np.array(highs.getSolution().col_value)
    net = values[: len(cells)] - values[len(cells) :]
    moved = np.abs(net) > 1e-9 * threat.need
    return Flow(cells[moved], net[moved])
