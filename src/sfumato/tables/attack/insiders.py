"""Insiders: every contributor to suppressed cells attacks with their own contribution known."""

from dataclasses import replace

import numpy as np

from sfumato.tables.attack.alternative_tables import AlternativeTableSearch
from sfumato.tables.attack.audit_problem import AttackedTable
from sfumato.tables.attack.components import Component, with_own
from sfumato.tables.attack.findings import DisclosureStatus, Finding
from sfumato.tables.cells.attacker_knowledge import Insider
from sfumato.tables.cells.cells import Bounds, Places


def attack_from_within(table: AttackedTable, component: Component, findings: list[Finding]) -> None:
    """Replace findings of the outsider if an insider can compute more.

    Raises:
        UnattainableError: The time limit was reached.
    """
    places = np.flatnonzero(~np.isnan(table.protection_interval.low[component.cells]) & ~table.certain[component.cells])
    if not len(places):
        return
    witnesses = AlternativeTableSearch(component.matrix, component.sides, component.bounds, component.unit)
    for attacker in table.knowledge.attackers:
        table.evidence.check_limit()
        _by_insider(table, attacker, component, witnesses, findings, places)


def _by_insider(
    table: AttackedTable,
    attacker: Insider,
    component: Component,
    witnesses: AlternativeTableSearch,
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
        if findings[place].verdict is DisclosureStatus.SAFE
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
        if finding.verdict is not DisclosureStatus.SAFE:
            findings[place] = replace(finding, attacker=attacker.name)
    for place in places.tolist():
        component.bind(place)


def _needs(table: AttackedTable, component: Component, place: int, promise: Bounds) -> tuple[float, float]:
    """Return the required deviation of a cell below and above its value, in units."""
    cell = component.cells[place]
    low, high = promise.low[cell] / table.scale.precision, promise.high[cell] / table.scale.precision
    return float(table.center[cell] - low), float(high - table.center[cell])


def _promise_to(table: AttackedTable, attacker: Insider) -> Bounds:
    """Return the protection intervals against an insider: for cells with an own contribution, that of the others."""
    assert table.values is not None
    low, high, values = (
        table.protection_interval.low.copy(),
        table.protection_interval.high.copy(),
        table.values[attacker.cells],
    )
    open_ = (attacker.reach.lower > 0) | (attacker.reach.upper > 0)
    low[attacker.cells] = np.where(open_, values - attacker.reach.lower, np.nan)
    high[attacker.cells] = np.where(open_, values + attacker.reach.upper, np.nan)
    return Bounds(low, high)
