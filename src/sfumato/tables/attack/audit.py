"""The audit: attackers who know everything published compute the range of every masked cell.

It shares no decision with the methods. For each masked cell two linear programs give the least and the greatest value
that agree with the exact cells, the published ranges, the relations and the bounds that anyone would assume; then
everybody who has a part in cells tries with what he knows of them. Programs run on deviations from the true values,
where these are known; an answer near a border is proved again in exact arithmetic, in whole steps of the table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.findings import Audit, Finding, Verdict
from sfumato.tables.attack.publication import Publication
from sfumato.tables.attack.witnesses import Witnesses
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Places
from sfumato.tables.cells.knowledge import Attacker, Knowledge
from sfumato.tables.cells.precision import NOISE, Scale, proved_bound
from sfumato.tables.programs import Extreme, Program

# So few masked cells are attacked together: taking them apart would cost more than it saves.
FEW = 60
# Numbers of steps up to which programs are at their best; larger ones are scaled down.
COMFORT = 1e8
# An answer so many steps from a border is proved again in exact arithmetic.
NEAR = 3.0

End = float | Fraction


def audit_publication(
    publication: Publication, promise: Bounds, knowledge: Knowledge | None = None, values: Numbers | None = None
) -> Audit:
    """Attack a publication.

    Args:
        publication: What is published.
        promise: What the attacker's range of each cell must contain; not a number where nothing is promised.
        knowledge: What is known besides, and who else attacks.
        values: The true values, where they are known: the programs start from them, and insiders need them.

    >>> from sfumato.tables.cells.cells import make_relations, no_bounds
    >>> publication = Publication(np.array([5.0, np.nan, 3.0]), no_bounds(3), Bounds(np.zeros(3), np.full(3, np.inf)),
    ...     make_relations([([0, 1, 2], [-1, 1, 1])]), ("all", "a", "b"))
    >>> audit_publication(publication, no_bounds(3)).findings[0].certificate
    ('all', 'b')
    """
    attack = _Attack(publication, promise, knowledge or Knowledge(), values)
    few = attack.masked.sum() <= FEW and not attack.knowledge.attackers
    audit = attack.run(together=bool(few))
    # A contradiction takes knowledge from its own component only.
    return attack.run(together=False) if few and audit.contradictions else audit


@dataclass(frozen=True, slots=True)
class _Component:
    """Masked cells that hang together, the relations among them, and the program of what is possible.

    Attributes:
        cells: The cells.
        rows: The relations.
        matrix: Relations by cells.
        bounds: Between which deviations, in steps, anyone holds each cell possible.
        sides: Between which the relations hold.
        program: The program, in units of so many steps.
        unit: The number of steps.
    """

    cells: Places
    rows: Places
    matrix: Any
    bounds: Bounds
    sides: Bounds
    program: Program
    unit: float

    def bind(self, place: int) -> None:
        """Let the program know the bounds of a cell."""
        self.program.bound(place, self.bounds.low[place] / self.unit, self.bounds.high[place] / self.unit)


@dataclass(frozen=True, slots=True)
class _Range:
    """The range of a cell, in deviations, with the programs that gave its ends."""

    low: End
    high: End
    least: Extreme
    most: Extreme


@dataclass
class _Attack:
    """The attackers at work, in steps of the table and deviations from the values, where these are known."""

    publication: Publication
    promise: Bounds
    knowledge: Knowledge
    values: Numbers | None
    scale: Scale = field(init=False)
    matrix: Any = field(init=False)
    masked: Mask = field(init=False)
    center: Numbers = field(init=False)
    sides: Numbers = field(init=False)
    rounding: float = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        shown = self.publication.exact
        self.scale = Scale(self.knowledge.step)
        self.matrix = self.publication.matrix()
        self.masked = np.isnan(shown)
        start = np.zeros(len(shown)) if self.values is None else self.values
        self.center = self.scale.steps(np.where(self.masked, start, shown))
        self.sides = self.scale.steps(self.publication.sides()) - self.matrix @ self.center
        self.whole = bool((self.center == np.round(self.center)).all())
        self.rounding = self._rounding_shown()

    def _rounding_shown(self) -> float:
        """How far published totals are off their published parts, as far as the plan calls that rounding."""
        allowed = self.knowledge.rounding / self.knowledge.step
        if allowed <= 0:
            return 0.0
        visible = abs(self.matrix) @ self.masked.astype(np.float64) == 0
        return float(min(allowed, np.abs(self.sides[visible]).max(initial=0.0)))

    def run(self, together: bool) -> Audit:
        """All findings, component by component or all cells together."""
        answers = [self.on(cells, rows) for cells, rows in self.components(together)]
        findings = [finding for part, _ in answers for finding in part] + self.exposed()
        findings.sort(key=lambda finding: finding.cell)
        names = tuple(name for _, names in answers for name in names)
        return Audit(tuple(findings), names, rounding=self.scale.value(self.rounding))

    def exposed(self) -> list[Finding]:
        """The cells that something is promised of and that are published all the same."""
        shown, names = self.publication.exact, self.publication.names
        return [
            Finding(int(cell), names[cell], float(shown[cell]), float(shown[cell]), Verdict.EXACT, published=True)
            for cell in np.flatnonzero(~self.masked & ~np.isnan(self.promise.low))
        ]

    def components(self, together: bool) -> Iterator[tuple[Places, Places]]:
        """Masked cells that hang together through relations, with those relations."""
        from scipy.sparse.csgraph import connected_components

        cells = np.flatnonzero(self.masked)
        part = abs(self.matrix[:, cells])
        if together and len(cells):
            yield cells, np.flatnonzero(np.diff(part.indptr))
            return
        count, labels = connected_components(part.T @ part, directed=False)
        order = np.argsort(labels, kind="stable")
        for group in np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1]) if count else []:
            rows = np.flatnonzero(np.diff(part[:, group].tocsr().indptr))
            yield cells[group], rows

    def on(self, cells: Places, rows: Places) -> tuple[list[Finding], list[str]]:
        """Attack one component; ranges that contradict the rest are set aside, for an attacker would do so too."""
        component = self._component(cells, rows, None)
        contradicted: list[str] = []
        if not component.program.feasible():
            component, contradicted = self._mended(cells, rows)
        ranges = [self._range(component, place, self.promise) for place in range(len(cells))]
        findings = [self._finding(component, place, ranges[place], self.promise) for place in range(len(cells))]
        if self.knowledge.attackers and self.values is not None and not contradicted:
            self._by_insiders(component, findings)
        return findings, contradicted

    def _by_insiders(self, component: _Component, findings: list[Finding]) -> None:
        witnesses = Witnesses(component.matrix, component.sides, component.bounds, component.unit)
        for attacker in self.knowledge.attackers:
            self._by_insider(attacker, component, witnesses, findings)

    def _mended(self, cells: Places, rows: Places) -> tuple[_Component, list[str]]:
        """The component without what contradicts the rest: totals may be rounded, then ranges may be false."""
        allowed = self.knowledge.rounding / self.knowledge.step
        if allowed > self.rounding:
            self.rounding = allowed
            component = self._component(cells, rows, None)
            if component.program.feasible():
                return component, []
        # Equations fall with the ranges that they were read from.
        rows = rows[rows < len(self.publication.relations)]
        for trusted in (~np.isnan(self.promise.low), np.zeros(len(self.masked), bool)):
            component = self._component(cells, rows, trusted)
            if component.program.feasible():
                return component, [self.publication.names[cell] for cell in cells]
        raise DataError(
            f"the published cells contradict one another around {self.publication.names[cells[0]]}.",
            "No table has these totals and these parts: correct what is published.",
            "contradiction",
        )

    def _component(self, cells: Places, rows: Places, trusted: Mask | None) -> _Component:
        ranges = self.publication.ranges if trusted is None else self.publication.ranges.only(trusted)
        known = self.scale.bounds(self.publication.bounds.within(ranges).rows(cells))
        bounds = Bounds(known.low - self.center[cells], known.high - self.center[cells])
        sides = Bounds(self.sides[rows] - self.rounding, self.sides[rows] + self.rounding)
        if self.values is not None:
            # A total that is rounded is taken for what it is: the true values are always possible.
            own = np.where(
                np.abs(self.sides[rows]) <= self.knowledge.rounding / self.knowledge.step, 0.0, self.sides[rows]
            )
            sides = Bounds(np.minimum(sides.low, own), np.maximum(sides.high, own))
        matrix = self.matrix[rows][:, cells]
        unit = 1.0 if self.knowledge.integer else _unit(bounds, sides)
        program = Program(matrix, _divided(bounds, unit), _divided(sides, unit), self.knowledge.integer)
        return _Component(cells, rows, matrix, bounds, sides, program, unit)

    def _range(self, component: _Component, place: int, promise: Bounds) -> _Range:
        """What a cell may be; exact where that decides."""
        program, unit, cell = component.program, component.unit, component.cells[place]
        least, most = program.extreme(place, 1.0), program.extreme(place, -1.0)
        low, high = least.value * unit, most.value * unit
        borders = self.scale.bounds(promise.rows(np.array([cell])))
        near = (
            high - low < NEAR
            or abs(low + self.center[cell] - borders.low[0]) < NEAR
            or abs(high + self.center[cell] - borders.high[0]) < NEAR
        )
        if near and not self.knowledge.integer:
            return _Range(_proved(component, place, 1.0, least), _proved(component, place, -1.0, most), least, most)
        return _Range(low, high, least, most)

    def _finding(self, component: _Component, place: int, range_: _Range, promise: Bounds) -> Finding:
        cell = int(component.cells[place])
        verdict = self._verdict(cell, range_, promise)
        proofs = () if verdict is Verdict.SAFE else (range_.least, range_.most)
        lower, upper = (self.scale.value(float(self.center[cell]) + float(end)) for end in (range_.low, range_.high))
        used = self._certificate(cell, component, proofs)
        return Finding(cell, self.publication.names[cell], lower, upper, verdict, used)

    def _verdict(self, cell: int, range_: _Range, promise: Bounds) -> Verdict:
        """A range that holds one value of the table's precision tells it, whatever was promised.

        Of a cell that nothing is promised of, and that is known to be safe, only a range of no width does.
        """
        low, high = promise.low[cell] / self.scale.step, promise.high[cell] / self.scale.step
        if np.isnan(low):
            least = 1.0 if self.values is None else NOISE
            return Verdict.EXACT if float(range_.high) - float(range_.low) < least - 1e-6 else Verdict.SAFE
        if self._is_one_value(cell, range_.low, range_.high):
            return Verdict.EXACT
        slack = NOISE + 1e-12 * abs(self.center[cell])
        lower, upper = float(range_.low) + self.center[cell], float(range_.high) + self.center[cell]
        return Verdict.TOO_NARROW if lower > low + slack or upper < high - slack else Verdict.SAFE

    def _is_one_value(self, cell: int, low: End, high: End) -> bool:
        if not np.isfinite(float(low)) or not np.isfinite(float(high)):
            return False
        slack = 0 if isinstance(low, Fraction) and isinstance(high, Fraction) else 1e-6
        if not self.whole:
            return bool(high - low < 1 - slack)
        center = float(self.center[cell])
        first, last = -((-low - center + slack) // 1), (high + center + slack) // 1
        return bool(last - first < 1)

    def _certificate(self, cell: int, component: _Component, proofs: Sequence[Extreme]) -> tuple[str, ...]:
        """The published cells, and the masked ones with their ranges, in the combination that bounds a cell."""
        named = np.zeros(len(self.masked), bool)
        for proof in proofs:
            named |= (np.abs(self.matrix[component.rows].T @ proof.relations) > 1e-9) & ~self.masked
            named[component.cells[np.abs(proof.bounds) > 1e-9]] = True
        named[cell] = False
        return tuple(self.publication.names[other] for other in np.flatnonzero(named))

    def _by_insider(
        self, attacker: Attacker, component: _Component, witnesses: Witnesses, findings: list[Finding]
    ) -> None:
        """Put, in place of what an outsider finds, what one who has a part in cells finds more."""
        promise = self._promise_to(attacker)
        here = np.isin(attacker.cells, component.cells)
        cells, places = attacker.cells[here], np.searchsorted(component.cells, attacker.cells[here])
        known = self.scale.bounds(attacker.bounds.rows(here))
        own = Bounds(known.low - self.center[cells], known.high - self.center[cells])
        own = own.within(component.bounds.rows(places))
        tried = [
            (place, needs)
            for place in np.flatnonzero(~np.isnan(promise.low[component.cells])).tolist()
            if findings[place].verdict is Verdict.SAFE
            and not witnesses.agree(place, needs := self._needs(component, place, promise), places, own)
        ]
        lost = [place for place, needs in tried if not witnesses.find(place, needs, places, own)]
        inside = replace(component, bounds=_with(component.bounds, places, own))
        for place in places.tolist() if lost else ():
            inside.bind(place)
        for place in lost:
            finding = self._finding(inside, place, self._range(inside, place, promise), promise)
            if finding.verdict is not Verdict.SAFE:
                findings[place] = replace(finding, attacker=attacker.name)
        for place in places.tolist() if lost else ():
            component.bind(place)

    def _needs(self, component: _Component, place: int, promise: Bounds) -> tuple[float, float]:
        """How many steps below and above its value the range of a cell must reach."""
        cell = component.cells[place]
        low, high = promise.low[cell] / self.scale.step, promise.high[cell] / self.scale.step
        return float(self.center[cell] - low), float(high - self.center[cell])

    def _promise_to(self, attacker: Attacker) -> Bounds:
        """What must stay open to an attacker: of the cells in which he has a part, only what is not his."""
        assert self.values is not None
        low, high, values = self.promise.low.copy(), self.promise.high.copy(), self.values[attacker.cells]
        open_ = (attacker.reach.down > 0) | (attacker.reach.up > 0)
        low[attacker.cells] = np.where(open_, values - attacker.reach.down, np.nan)
        high[attacker.cells] = np.where(open_, values + attacker.reach.up, np.nan)
        return Bounds(low, high)


def _unit(bounds: Bounds, sides: Bounds) -> float:
    """How many steps the programs reckon by: one, unless numbers are large."""
    ends = np.concatenate([bounds.low, bounds.high, sides.low, sides.high])
    return float(max(1.0, np.abs(ends[np.isfinite(ends)]).max(initial=0.0) / COMFORT))


def _divided(bounds: Bounds, unit: float) -> Bounds:
    return Bounds(bounds.low / unit, bounds.high / unit)


def _with(bounds: Bounds, places: Places, own: Bounds) -> Bounds:
    low, high = bounds.low.copy(), bounds.high.copy()
    low[places], high[places] = own.low, own.high
    return Bounds(low, high)


def _proved(component: _Component, place: int, direction: float, extreme: Extreme) -> End:
    """The end of a range in exact arithmetic; the program's own where its multipliers do not prove it."""
    answer = extreme.value * component.unit
    if not np.isfinite(answer):
        return answer
    bound = proved_bound(component.matrix, component.sides, component.bounds, place, direction, extreme.relations)
    sure = bool(abs(float(bound) * direction - answer) <= 1e-2 * component.unit + 1e-9 * abs(answer))
    return Fraction(bound) * int(direction) if sure else answer


__all__ = ["audit_publication"]
