"""The audit: compute the feasibility interval of every suppressed cell, for each attacker.

It shares no code with the methods. For each suppressed cell two linear programs give the minimum and the maximum that
agree with the published cells and intervals, the linear constraints, and the a priori bounds. The audit then repeats
this with the knowledge of every insider. Programs run on deviations from the true values if these are known. An optimum
near a limit is proved again in exact arithmetic.
"""

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.audit_problem import AttackedTable, Component, with_own
from sfumato.tables.attack.findings import AttackerView, Audit, DisclosureStatus, Finding
from sfumato.tables.cells.constraints import NOISE
from sfumato.tables.cells.system import AttackerKnowledge, Bounds, Insider, Numbers, Places
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import component_labels, linear_program
from sfumato.values import State, replace

# Maximum number of alternative tables kept for each side of a cell.
MEMORY = 12

Needs = tuple[float, float]
# Seconds of computing intervals after which the time per interval is estimated.
TRIAL = 0.5
# Up to this many suppressed cells are audited as one component; splitting them would cost more than it saves.
FEW = 60


class Pace:
    """The time that intervals took so far, and whether enough is left for the rest."""

    def __init__(self, deadline: Deadline, ranges: int) -> None:
        self._deadline, self._left = deadline, ranges
        self._done, self._seconds, self._start = 0, 0.0, 0.0
        self._hurried = False

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._seconds += time.monotonic() - self._start
        self._done, self._left = self._done + 1, self._left - 1

    @property
    def hurried(self) -> bool:
        """Whether intervals that are not required are skipped; once true, it stays true."""
        if not self._hurried:
            late = self._seconds > TRIAL and self._seconds / self._done * self._left > self._deadline.left
            self._hurried = late or self._deadline.over
        return self._hurried


def audit_publication(
    publication: AttackerView,
    promise: Bounds,
    knowledge: AttackerKnowledge | None = None,
    values: Numbers | None = None,
    evidence: AuditEvidence | None = None,
) -> Audit:
    """Audit a publication for an outsider and every insider.

    Args:
        publication: The published values and intervals.
        promise: The protection interval of each cell; NaN if the cell has none.
        knowledge: Rounding, integrality and the insiders.
        values: The true values, or None. The programs start from them, and insiders cannot be audited without them.
        evidence: Alternative tables supplied by the caller, and the deadlines.

    >>> from sfumato.tables.cells.system import make_constraints, no_bounds
    >>> publication = AttackerView(np.array([5.0, np.nan, 3.0]), no_bounds(3), Bounds(np.zeros(3), np.full(3, np.inf)),
    ...     make_constraints([([0, 1, 2], [-1, 1, 1])]), ("all", "a", "b"))
    >>> audit_publication(publication, no_bounds(3)).findings[0].certificate
    ('all', 'b')
    """
    table = AttackedTable(publication, promise, knowledge or AttackerKnowledge(), values, evidence or AuditEvidence())
    attack = _Attack(table, Pace(table.evidence.deadline, int(table.masked.sum())))
    few = table.masked.sum() <= FEW and not table.knowledge.attackers
    audit = attack.run(together=bool(few))
    # A contradiction removes intervals of its own component only, so components are needed.
    return attack.run(together=False) if few and audit.contradictions else audit


class _Attack(State):
    """The audit of a table, component by component."""

    table: AttackedTable
    pace: Pace

    def run(self, together: bool) -> Audit:
        """Return all findings, component by component or with all cells as one component."""
        answers = [self.on(cells, rows) for cells, rows in self.components(together)]
        findings = [finding for part, _ in answers for finding in part] + self.exposed()
        if self.table.publication.hidden is not None:
            findings = [finding for finding in findings if not self.table.publication.hidden[finding.cell]]
        findings.sort(key=lambda finding: finding.cell)
        names = tuple(name for _, names in answers for name in names)
        return Audit(tuple(findings), names, rounding=self.table.scale.value(self.table.rounding))

    def exposed(self) -> list[Finding]:
        """Return findings for cells that have a protection interval but are published."""
        shown, names = self.table.publication.exact, self.table.publication.names
        return [
            Finding(
                int(cell), names[cell], float(shown[cell]), float(shown[cell]), DisclosureStatus.EXACT, published=True
            )
            for cell in np.flatnonzero(~self.table.masked & ~np.isnan(self.table.protection_interval.low))
        ]

    def components(self, together: bool) -> Iterator[tuple[Places, Places]]:
        """Yield the connected components of the suppressed cells, with their constraints."""
        cells = np.flatnonzero(self.table.masked)
        part = abs(self.table.matrix[:, cells])
        if together and len(cells):
            yield cells, np.flatnonzero(np.diff(part.indptr))
            return
        labels = component_labels(part)
        count = int(labels.max(initial=-1)) + 1
        order = np.argsort(labels, kind="stable")
        for group in np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1]) if count else []:
            rows = np.flatnonzero(np.diff(part[:, group].tocsr().indptr))
            yield cells[group], rows

    def on(self, cells: Places, rows: Places) -> tuple[list[Finding], list[str]]:
        """Audit one component; published intervals that contradict the rest are ignored, as an attacker would do."""
        certain = self.table.certain[cells]
        idle = np.isnan(self.table.protection_interval.low[cells]) & self.table.evidence.promised
        if self.table.publication.hidden is not None:
            idle |= self.table.publication.hidden[cells]
        if idle.all() or (certain.all() and self.pace.hurried):
            return [self._unranged(int(cell)) for cell in cells], []
        component = self.table.component(cells, rows, None)
        contradicted: list[str] = []
        if not component.feasible():
            component, contradicted = self._mended(cells, rows)
        findings = []
        for place, sure in enumerate(certain.tolist()):
            self.table.evidence.check_limit()
            if idle[place] or (sure and not contradicted and self.pace.hurried):
                findings.append(self._unranged(int(cells[place])))
                continue
            end = self.table.evidence.deadline if sure and not contradicted else FOREVER
            with self.pace:
                range_ = self.table.range_within(component, place, self.table.protection_interval, end)
            findings.append(
                self._unranged(int(cells[place]))
                if range_ is None
                else self.table.finding(component, place, range_, self.table.protection_interval)
            )
        if self.table.knowledge.attackers and self.table.values is not None and not contradicted:
            attack_from_within(self.table, component, findings)
        return findings, contradicted

    def _unranged(self, cell: int) -> Finding:
        """Return the finding for a safe cell whose interval was not computed."""
        return Finding(cell, self.table.publication.names[cell], np.nan, np.nan, DisclosureStatus.SAFE)

    def _mended(self, cells: Places, rows: Places) -> tuple[Component, list[str]]:
        """Remove contradictions from a component: first allow rounded totals, then ignore published intervals."""
        allowed = self.table.knowledge.rounding / self.table.knowledge.precision
        if allowed > self.table.rounding:
            self.table.rounding = allowed
            component = self.table.component(cells, rows, None)
            if component.feasible():
                return component, []
        # Equations were read from the intervals, so they are ignored with them.
        rows = rows[rows < len(self.table.publication.constraints)]
        for trusted in (~np.isnan(self.table.protection_interval.low), np.zeros(len(self.table.masked), bool)):
            component = self.table.component(cells, rows, trusted)
            if component.feasible():
                return component, [self.table.publication.names[cell] for cell in cells]
        raise DataError("contradiction.the_published_cells_contradict", name=self.table.publication.names[cells[0]])


# An insider cannot exclude an alternative table that agrees with the insider's knowledge. Each table is the smallest
# such deviation relative to the capacities of the cells, so that it agrees with most insiders.
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
    low, high = (
        promise.low[cell] / table.scale.precision,
        promise.high[cell] / table.scale.precision,
    )
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
