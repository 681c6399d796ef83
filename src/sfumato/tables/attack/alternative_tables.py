"""Find alternative tables that agree with a publication and move a suppressed cell by its protection level.

A witness that also agrees with an insider's knowledge shows that the insider cannot tell. Each is the smallest such
deviation relative to the capacities of the cells, so that it agrees with most insiders.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.cells.precision import NOISE
from sfumato.tables.linear_programs import linear_program

# Maximum number of alternative tables kept for each side of a cell.
MEMORY = 12

Needs = tuple[float, float]


class AlternativeTableSearch:
    """The alternative tables of one component, as deviations from the true values in units.

    Moves up and down of a cell are separate variables with a cost each, so that no cell moves without need.
    """

    def __init__(self, matrix: Any, sides: Bounds, bounds: Bounds, unit: float) -> None:
        from scipy.sparse import hstack

        self._points: dict[tuple[int, int], list[Numbers]] = {}
        self._size, self._unit = matrix.shape[1], unit
        self._up, self._down = np.maximum(bounds.high, 0.0) / unit, np.maximum(-bounds.low, 0.0) / unit
        room = np.concatenate([self._up, self._down])
        finite = np.where(np.isfinite(room), room, room[np.isfinite(room)].max(initial=1.0))
        prices = 1.0 / np.maximum(finite / max(float(finite.max(initial=1.0)), 1e-9), 1e-4)
        scaled = Bounds(sides.low / unit, sides.high / unit)
        self._highs = linear_program(hstack([matrix, -matrix]), prices, Bounds(np.zeros(2 * self._size), room), scaled)

    def agree(self, place: int, needs: Needs, places: Places, own: Bounds) -> bool:
        """Return whether known alternative tables, scaled to the required deviation, agree with the insider."""
        return all(
            need < NOISE or self._agrees(self._points.get((place, sign), ()), place, sign * need, places, own)
            for sign, need in ((-1, needs[0]), (1, needs[1]))
        )

    def _agrees(self, points: Sequence[Numbers], place: int, need: float, places: Places, own: Bounds) -> bool:
        for point in points:
            share = need / point[place]
            moved = point[places] * share
            if share <= 1 + 1e-9 and (moved >= own.low - NOISE).all() and (moved <= own.high + NOISE).all():
                return True
        return False

    def find(self, place: int, needs: Needs, places: Places, own: Bounds) -> bool:
        """Return whether alternative tables on both sides agree with an insider's knowledge; new ones are kept."""
        return all(
            need < NOISE
            or self._agrees(self._points.get((place, sign), ()), place, sign * need, places, own)
            or self._search(place, sign, need, places, own)
            for sign, need in ((-1, needs[0]), (1, needs[1]))
        )

    def _search(self, place: int, sign: int, need: float, places: Places, own: Bounds) -> bool:
        """Search one alternative table within an insider's knowledge, which may include the moved cell."""
        from highspy import HighsModelStatus

        his = places == place
        if (his & (sign * need > own.high + NOISE)).any() or (his & (sign * need < own.low - NOISE)).any():
            return False
        for cell, low, high in zip(places.tolist(), own.low / self._unit, own.high / self._unit, strict=True):
            self._bound(cell, max(high, 0.0), max(-low, 0.0))
        up, down = (need / self._unit, 0.0) if sign > 0 else (0.0, need / self._unit)
        self._highs.changeColBounds(place, up, up)
        self._highs.changeColBounds(place + self._size, down, down)
        self._highs.run()
        solved = self._highs.getModelStatus() == HighsModelStatus.kOptimal
        if solved:
            values = np.array(self._highs.getSolution().col_value) * self._unit
            points = self._points.setdefault((place, sign), [])
            points.insert(0, values[: self._size] - values[self._size :])
            del points[MEMORY:]
        for cell in (place, *places.tolist()):
            self._bound(cell, self._up[cell], self._down[cell])
        return bool(solved)

    def _bound(self, cell: int, up: float, down: float) -> None:
        self._highs.changeColBounds(cell, 0.0, up)
        self._highs.changeColBounds(cell + self._size, 0.0, down)
