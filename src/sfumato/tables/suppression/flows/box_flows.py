"""Flows within boxes: linear programs over the cells near a threatened one, a few codes of each dimension.

Deviations within siblings change no total above them, so a small box mostly has a flow. It need not be the cheapest of
the whole table.
"""

from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.cells.coordinates import NOWHERE, Coordinates
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import linear_program, solved
from sfumato.tables.suppression.flows.flow import GENEROUS, Flow
from sfumato.tables.suppression.flows.movable_cells import OpenCells
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat

# How many cells a box has, about; a larger one is tried where a smaller has no flow.
BOX_CELLS = (350, 1_500)
# What a cell that is not there or not open counts for where codes are chosen.
DEAR = 1e3


class Boxes(OpenCells):
    """Finds flows in boxes around threatened cells."""

    def __init__(self, problem: SuppressionProblem, prices: Numbers, coordinates: Coordinates) -> None:
        super().__init__(problem, prices, coordinates)
        self._columns = problem.columns
        self._near = [_near(above) for above in coordinates.above]
        self._widths = [max(round(cells ** (1 / len(self._near))), 3) for cells in BOX_CELLS]

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """The cheapest flow in a box round the threatened cell, or None when there is none."""
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
        """The room of the cells of a box, as the attacker sees it."""
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
        """The cells of a box: for each dimension the own code and those nearby that are cheapest so far."""
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
        """What the cells of some codes cost."""
        cells = self._grid.cells(codes)
        prices = np.minimum(np.where(self._open[cells], self._prices[cells], DEAR), DEAR)
        return np.where(cells < 0, DEAR, prices)


def _near(above: Places) -> list[Places]:
    """For each code its siblings; for the total its parts."""
    parts = [np.flatnonzero(above == code) for code in range(len(above))]
    return [parts[code] if upper < 0 else parts[upper][parts[upper] != code] for code, upper in enumerate(above)]


def _solved(
    matrix: Any, cells: Places, prices: Numbers, room: tuple[Numbers, Numbers], threat: Threat, end: Deadline
) -> Flow | None:
    """The cheapest flow over some cells."""
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
