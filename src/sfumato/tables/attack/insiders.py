"""Insiders: every contributor to suppressed cells attacks with their own contribution known."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.tables.attack.audit_problem import AttackedTable
from sfumato.tables.attack.components import Component, with_own
from sfumato.tables.attack.findings import Finding, Verdict
from sfumato.tables.cells.attacker_knowledge import Attacker
from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.cells.precision import NOISE
from sfumato.tables.linear_programs import linear_program

# Maximum number of alternative tables kept for each side of a cell.
MEMORY = 12

Needs = tuple[float, float]


# A witness that also agrees with an insider's knowledge shows that the insider cannot tell. Each is the smallest such
# deviation relative to the capacities of the cells, so that it agrees with most insiders.
class Witnesses:
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


def attack_from_within(table: AttackedTable, component: Component, findings: list[Finding]) -> None:
    """Replace findings of the outsider if an insider can compute more.

    Raises:
        UnattainableError: The time limit was reached.
    """
    places = np.flatnonzero(~np.isnan(table.promise.low[component.cells]) & ~table.certain[component.cells])
    if not len(places):
        return
    witnesses = Witnesses(component.matrix, component.sides, component.bounds, component.unit)
    for attacker in table.knowledge.attackers:
        table.evidence.check_limit()
        _by_insider(table, attacker, component, witnesses, findings, places)


def _by_insider(
    table: AttackedTable,
    attacker: Attacker,
    component: Component,
    witnesses: Witnesses,
    findings: list[Finding],
    targets: Places,
) -> None:
    """Replace findings of the outsider if this insider can compute more."""
    promise = _promise_to(table, attacker)
    here = np.isin(attacker.cells, component.cells)
    places = np.searchsorted(component.cells, attacker.cells[here])
    own = table.known_to(attacker, here).within(component.bounds.rows(places))
    tried = [
        (place, needs)
        for place in targets[~np.isnan(promise.low[component.cells[targets]])].tolist()
        if findings[place].verdict is Verdict.SAFE
        and not witnesses.agree(place, needs := _needs(table, component, place, promise), places, own)
    ]
    lost = [place for place, needs in tried if not witnesses.find(place, needs, places, own)]
    if not lost:
        return
    inside = replace(component, bounds=with_own(component.bounds, places, own))
    for place in places.tolist():
        inside.bind(place)
    for place in lost:
        finding = table.finding(inside, place, table.range_of(inside, place, promise), promise)
        if finding.verdict is not Verdict.SAFE:
            findings[place] = replace(finding, attacker=attacker.name)
    for place in places.tolist():
        component.bind(place)


def _needs(table: AttackedTable, component: Component, place: int, promise: Bounds) -> tuple[float, float]:
    """Return the required deviation of a cell below and above its value, in units."""
    cell = component.cells[place]
    low, high = promise.low[cell] / table.scale.step, promise.high[cell] / table.scale.step
    return float(table.center[cell] - low), float(high - table.center[cell])


def _promise_to(table: AttackedTable, attacker: Attacker) -> Bounds:
    """Return the protection intervals against an insider: for cells with an own contribution, that of the others."""
    assert table.values is not None
    low, high, values = table.promise.low.copy(), table.promise.high.copy(), table.values[attacker.cells]
    open_ = (attacker.reach.down > 0) | (attacker.reach.up > 0)
    low[attacker.cells] = np.where(open_, values - attacker.reach.down, np.nan)
    high[attacker.cells] = np.where(open_, values + attacker.reach.up, np.nan)
    return Bounds(low, high)
