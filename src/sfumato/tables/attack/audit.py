"""The audit: attackers who know everything published compute the range of every masked cell.

It shares no decision with the methods. For each masked cell two linear programs give the least and the greatest value
that agree with the exact cells, the published ranges, the relations and the bounds that anyone would assume; then
everybody who has a part in cells tries with what he knows of them. Programs run on deviations from the true values,
where these are known; an answer near a border is proved again in exact arithmetic, in whole steps of the table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, UnattainableError
from sfumato.tables.attack.certificates import Evidence, certified, inside_of
from sfumato.tables.attack.components import Component, End, Range, divided, proved_end, unit_of, with_own
from sfumato.tables.attack.findings import Audit, Finding, Verdict
from sfumato.tables.attack.pace import Pace
from sfumato.tables.attack.publication import Publication
from sfumato.tables.attack.witnesses import Witnesses
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Places
from sfumato.tables.cells.knowledge import Attacker, Knowledge
from sfumato.tables.cells.precision import NOISE, Scale
from sfumato.tables.programs import Extreme, Program, component_labels

# So few masked cells are attacked together: taking them apart would cost more than it saves.
FEW = 60
# An answer so many steps from a border is proved again in exact arithmetic.
NEAR = 3.0


def audit_publication(
    publication: Publication,
    promise: Bounds,
    knowledge: Knowledge | None = None,
    values: Numbers | None = None,
    evidence: Evidence | None = None,
) -> Audit:
    """Attack a publication.

    Args:
        publication: What is published.
        promise: What the attacker's range of each cell must contain; not a number where nothing is promised.
        knowledge: What is known besides, and who else attacks.
        values: The true values, where they are known: the programs start from them, and insiders need them.
        evidence: Witnesses that are brought along, and until when ranges are computed that need not be.

    >>> from sfumato.tables.cells.cells import make_relations, no_bounds
    >>> publication = Publication(np.array([5.0, np.nan, 3.0]), no_bounds(3), Bounds(np.zeros(3), np.full(3, np.inf)),
    ...     make_relations([([0, 1, 2], [-1, 1, 1])]), ("all", "a", "b"))
    >>> audit_publication(publication, no_bounds(3)).findings[0].certificate
    ('all', 'b')
    """
    attack = _Attack(publication, promise, knowledge or Knowledge(), values, evidence or Evidence())
    few = attack.masked.sum() <= FEW and not attack.knowledge.attackers
    audit = attack.run(together=bool(few))
    # A contradiction takes knowledge from its own component only.
    return attack.run(together=False) if few and audit.contradictions else audit


@dataclass
class _Attack:
    """The attackers at work, in steps of the table and deviations from the values, where these are known."""

    publication: Publication
    promise: Bounds
    knowledge: Knowledge
    values: Numbers | None
    evidence: Evidence
    scale: Scale = field(init=False)
    matrix: Any = field(init=False)
    masked: Mask = field(init=False)
    center: Numbers = field(init=False)
    sides: Numbers = field(init=False)
    rounding: float = field(init=False)
    whole: bool = field(init=False)
    certain: Mask = field(init=False)
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        shown = self.publication.exact
        self.scale = Scale(self.knowledge.step)
        self.matrix = self.publication.matrix()
        self.masked = np.isnan(shown)
        start = np.zeros(len(shown)) if self.values is None else self.values
        self.center = self.scale.steps(np.where(self.masked, start, shown))
        self.sides = self.scale.steps(self.publication.sides()) - self.matrix @ self.center
        shown_cells = self.center if self.publication.unshown is None else self.center[~self.publication.unshown]
        self.whole = bool((shown_cells == np.round(shown_cells)).all())
        self.rounding = self._rounding_shown()
        self.certain = self._certain()
        self.pace = Pace(self.evidence.deadline, int(self.masked.sum()))

    def _certain(self) -> Mask:
        """The cells that witnesses show to be safe from everybody."""
        agree = np.abs(self.sides).max(initial=0.0) <= max(self.knowledge.rounding / self.knowledge.step, NOISE)
        if not self.evidence.witnesses or self.values is None or self.knowledge.integer or not agree:
            return np.zeros(len(self.masked), bool)
        known = self.scale.bounds(self.publication.bounds.within(self.publication.ranges))
        bounds = Bounds(known.low - self.center, known.high - self.center)
        low, high = self.promise.low / self.scale.step, self.promise.high / self.scale.step
        needs = Bounds(self.center - low, high - self.center)
        attackers = self.knowledge.attackers
        inside = inside_of(
            [attacker.cells for attacker in attackers],
            [self._known_to(attacker, np.ones(len(attacker.cells), bool)) for attacker in attackers],
            [(attacker.reach.down / self.scale.step, attacker.reach.up / self.scale.step) for attacker in attackers],
            len(self.masked),
        )
        return certified(self.evidence.witnesses, self.matrix, self.masked, bounds, needs, inside, self.scale)

    def _known_to(self, attacker: Attacker, here: Mask) -> Bounds:
        """Between which deviations, in steps, an attacker knows some of his cells to lie."""
        known, cells = self.scale.bounds(attacker.bounds.rows(here)), attacker.cells[here]
        return Bounds(known.low - self.center[cells], known.high - self.center[cells])

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
        if self.publication.unshown is not None:
            findings = [finding for finding in findings if not self.publication.unshown[finding.cell]]
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
        cells = np.flatnonzero(self.masked)
        part = abs(self.matrix[:, cells])
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
        """Attack one component; ranges that contradict the rest are set aside, for an attacker would do so too."""
        certain = self.certain[cells]
        idle = np.isnan(self.promise.low[cells]) & self.evidence.promised
        if self.publication.unshown is not None:
            idle |= self.publication.unshown[cells]
        if idle.all() or (certain.all() and self.pace.hurried):
            return [self._unranged(int(cell)) for cell in cells], []
        component = self._component(cells, rows, None)
        contradicted: list[str] = []
        if not component.program.feasible():
            component, contradicted = self._mended(cells, rows)
        findings = []
        for place, sure in enumerate(certain.tolist()):
            self._check_limit()
            if idle[place] or (sure and not contradicted and self.pace.hurried):
                findings.append(self._unranged(int(cells[place])))
                continue
            with self.pace:
                range_ = self._range(component, place, self.promise)
            findings.append(self._finding(component, place, range_, self.promise))
        if self.knowledge.attackers and self.values is not None and not contradicted:
            self._by_insiders(component, findings)
        return findings, contradicted

    def _check_limit(self) -> None:
        """Refuse to go on past the end.

        Raises:
            UnattainableError: It is past.
        """
        if self.evidence.limit.over:
            raise UnattainableError(
                "the time was over before every attack was tried.",
                "Allow more time, or publish fewer or smaller tables together.",
                "time-limit",
            )

    def _unranged(self, cell: int) -> Finding:
        """A cell that is safe, and whose range there was no time to compute."""
        return Finding(cell, self.publication.names[cell], np.nan, np.nan, Verdict.SAFE)

    def _by_insiders(self, component: Component, findings: list[Finding]) -> None:
        places = np.flatnonzero(~np.isnan(self.promise.low[component.cells]) & ~self.certain[component.cells])
        if not len(places):
            return
        witnesses = Witnesses(component.matrix, component.sides, component.bounds, component.unit)
        for attacker in self.knowledge.attackers:
            self._check_limit()
            self._by_insider(attacker, component, witnesses, findings, places)

    def _mended(self, cells: Places, rows: Places) -> tuple[Component, list[str]]:
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

    def _component(self, cells: Places, rows: Places, trusted: Mask | None) -> Component:
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
        unit = 1.0 if self.knowledge.integer else unit_of(bounds, sides)
        program = Program(matrix, divided(bounds, unit), divided(sides, unit), self.knowledge.integer)
        return Component(cells, rows, matrix, bounds, sides, program, unit)

    def _range(self, component: Component, place: int, promise: Bounds) -> Range:
        """What a cell may be; exact where that decides."""
        program, unit, cell = component.program, component.unit, component.cells[place]
        least, most = program.extreme(place, 1.0), program.extreme(place, -1.0)
        low: End = least.value * unit
        high: End = most.value * unit
        borders = self.scale.bounds(promise.rows(np.array([cell])))
        near = (
            high - low < NEAR
            or abs(low + self.center[cell] - borders.low[0]) < NEAR
            or abs(high + self.center[cell] - borders.high[0]) < NEAR
        )
        if near and not self.knowledge.integer:
            low, high = proved_end(component, place, 1.0, least), proved_end(component, place, -1.0, most)
        return Range(low, high, least, most)

    def _finding(self, component: Component, place: int, range_: Range, promise: Bounds) -> Finding:
        cell = int(component.cells[place])
        verdict = self._verdict(cell, range_, promise)
        proofs = () if verdict is Verdict.SAFE else (range_.least, range_.most)
        lower, upper = (self.scale.value(float(self.center[cell]) + float(end)) for end in (range_.low, range_.high))
        used = self._certificate(cell, component, proofs)
        return Finding(cell, self.publication.names[cell], lower, upper, verdict, used)

    def _verdict(self, cell: int, range_: Range, promise: Bounds) -> Verdict:
        """A range that holds one value of the table's precision tells it, whatever was promised.

        Of a cell that nothing is promised of, and that is known to be safe, only a range of no width does.
        """
        low, high = promise.low[cell] / self.scale.step, promise.high[cell] / self.scale.step
        if np.isnan(low):
            least = 1.0 if self.values is None else NOISE
            return Verdict.EXACT if float(range_.high) - float(range_.low) < least - 1e-6 else Verdict.SAFE
        if range_.is_one_value(float(self.center[cell]), self.whole):
            return Verdict.EXACT
        slack = NOISE + 1e-12 * abs(self.center[cell])
        lower, upper = float(range_.low) + self.center[cell], float(range_.high) + self.center[cell]
        return Verdict.TOO_NARROW if lower > low + slack or upper < high - slack else Verdict.SAFE

    def _certificate(self, cell: int, component: Component, proofs: Sequence[Extreme]) -> tuple[str, ...]:
        """The published cells, and the masked ones with their ranges, in the combination that bounds a cell."""
        named = np.zeros(len(self.masked), bool)
        for proof in proofs:
            named |= (np.abs(self.matrix[component.rows].T @ proof.relations) > 1e-9) & ~self.masked
            named[component.cells[np.abs(proof.bounds) > 1e-9]] = True
        named[cell] = False
        if self.publication.unshown is not None:
            named &= ~self.publication.unshown
        return tuple(self.publication.names[other] for other in np.flatnonzero(named))

    def _by_insider(
        self,
        attacker: Attacker,
        component: Component,
        witnesses: Witnesses,
        findings: list[Finding],
        targets: Places,
    ) -> None:
        """Put, in place of what an outsider finds, what one who has a part in cells finds more."""
        promise = self._promise_to(attacker)
        here = np.isin(attacker.cells, component.cells)
        places = np.searchsorted(component.cells, attacker.cells[here])
        own = self._known_to(attacker, here).within(component.bounds.rows(places))
        tried = [
            (place, needs)
            for place in targets[~np.isnan(promise.low[component.cells[targets]])].tolist()
            if findings[place].verdict is Verdict.SAFE
            and not witnesses.agree(place, needs := self._needs(component, place, promise), places, own)
        ]
        lost = [place for place, needs in tried if not witnesses.find(place, needs, places, own)]
        if not lost:
            return
        inside = replace(component, bounds=with_own(component.bounds, places, own))
        for place in places.tolist():
            inside.bind(place)
        for place in lost:
            finding = self._finding(inside, place, self._range(inside, place, promise), promise)
            if finding.verdict is not Verdict.SAFE:
                findings[place] = replace(finding, attacker=attacker.name)
        for place in places.tolist():
            component.bind(place)

    def _needs(self, component: Component, place: int, promise: Bounds) -> tuple[float, float]:
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


__all__ = ["audit_publication"]
