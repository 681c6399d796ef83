"""The audit: an attacker who knows everything published computes the range of every masked cell.

It shares no code with the methods. For each masked cell two linear programs give the least and the greatest value that
agree with the exact cells, the published ranges, the relations and the bounds that anyone would assume. It does not
model what an attacker knows beyond that, save the single respondent of a cell when asked.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.publication import Publication
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Places
from sfumato.tables.cells.parts import Knowledge
from sfumato.tables.programs import Extreme, Program

# So few masked cells are attacked together: taking them apart would cost more than it saves.
FEW = 60
# What the answers of the programs may be off.
TOLERANCE = 1e-6


class Verdict(StrEnum):
    """What the attacker achieves on a masked cell."""

    SAFE = "safe"
    TOO_NARROW = "too narrow"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Finding:
    """The attacker's range of one cell, the verdict, and the published cells that give it away.

    `published` marks a cell that should be masked and stands in the table as it is.
    """

    cell: int
    name: str
    lower: float
    upper: float
    verdict: Verdict
    certificate: tuple[str, ...] = ()
    insider: str = ""
    published: bool = False


@dataclass(frozen=True, slots=True)
class Audit:
    """What the attacker found: one finding for each masked cell, and for each that should be.

    Attributes:
        findings: In the order of the cells.
        contradictions: Cells of which the publication says something false, or that contradicts the rest of it.
        unjudged: Rules of the plan that could not be judged, for want of a column.
    """

    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def checked(self) -> int:
        return sum(not finding.published for finding in self.findings)

    @property
    def exact(self) -> int:
        return sum(finding.verdict is Verdict.EXACT for finding in self.findings)

    @property
    def too_narrow(self) -> int:
        return sum(finding.verdict is Verdict.TOO_NARROW for finding in self.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is not Verdict.SAFE)

    @property
    def passed(self) -> bool:
        return not self.leaks and not self.contradictions

    def with_contradictions(self, names: Iterable[str]) -> "Audit":
        """The same findings with further cells that the publication contradicts."""
        return Audit(self.findings, tuple(dict.fromkeys((*self.contradictions, *names))))

    def counts(self) -> dict[str, int]:
        """Masked cells checked, recovered exactly, narrowed too far, and contradicted by their own table."""
        figures = {"checked": self.checked, "exact": self.exact, "too_narrow": self.too_narrow}
        return figures | {"contradictory": len(self.contradictions)}


def joined(audits: Iterable[Audit], unjudged: tuple[str, ...] = ()) -> Audit:
    """The audits of several tables as one."""
    listed = list(audits)
    findings = tuple(finding for audit in listed for finding in audit.findings)
    return Audit(findings, tuple(name for audit in listed for name in audit.contradictions), unjudged)


def audit_publication(
    publication: Publication, promise: Bounds, knowledge: Knowledge | None = None, own_values: Numbers | None = None
) -> Audit:
    """Attack a publication.

    Args:
        publication: What is published.
        promise: What the attacker's range of each cell must contain; not a number where nothing is promised.
        knowledge: What the attacker has besides.
        own_values: What the single respondents of cells know, where they attack.

    >>> from sfumato.tables.cells.cells import make_relations, no_bounds
    >>> publication = Publication(np.array([5.0, np.nan, 3.0]), no_bounds(3), Bounds(np.zeros(3), np.full(3, np.inf)),
    ...     make_relations([([0, 1, 2], [-1, 1, 1])]), ("all", "a", "b"))
    >>> audit_publication(publication, no_bounds(3)).findings[0].certificate
    ('all', 'b')
    """
    attack = _Attack(publication, promise, knowledge or Knowledge(), own_values)
    few = attack.masked.sum() <= FEW and attack.knowledge.alone is None
    audit = attack.run(together=bool(few))
    # A contradiction takes knowledge from its own component only.
    return attack.run(together=False) if few and audit.contradictions else audit


@dataclass
class _Attack:
    """The attacker at work."""

    publication: Publication
    promise: Bounds
    knowledge: Knowledge
    own_values: Numbers | None
    matrix: Any = field(init=False)
    masked: Mask = field(init=False)
    sides: Numbers = field(init=False)
    slack: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.matrix = self.publication.matrix()
        self.masked = np.isnan(self.publication.exact)
        shown = np.where(self.masked, 0.0, self.publication.exact)
        self.sides = self.publication.sides() - self.matrix @ shown
        # Sums of numbers with decimals carry errors of rounding; sums of whole numbers do not.
        fuzzy = self.sides != np.round(self.sides)
        gross = abs(self.matrix) @ np.abs(shown)
        self.slack = np.where(fuzzy, 1e-13 * gross, 0.0) + self.knowledge.rounding

    def run(self, together: bool) -> Audit:
        """All findings, component by component or all cells together."""
        answers = [self.on(cells, rows) for cells, rows in self.components(together)]
        findings = [finding for part, _ in answers for finding in part] + self.exposed()
        findings.sort(key=lambda finding: finding.cell)
        return Audit(tuple(findings), tuple(name for _, names in answers for name in names))

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
        program = self._program(cells, rows, None)
        contradicted: list[str] = []
        if not program.feasible():
            contradicted = [self.publication.names[cell] for cell in cells]
            # Equations fall with the ranges that they were read from.
            rows = rows[rows < len(self.publication.relations)]
            program = self._without_false_ranges(cells, rows)
        findings = [self._finding(place, cells, rows, program) for place in range(len(cells))]
        return self._with_insiders(findings, cells, rows, program), contradicted

    def _without_false_ranges(self, cells: Places, rows: Places) -> Program:
        """First only promised cells keep their ranges, then none does."""
        for trusted in (~np.isnan(self.promise.low), np.zeros(len(self.masked), bool)):
            program = self._program(cells, rows, trusted)
            if program.feasible():
                return program
        raise DataError(
            f"the published cells contradict one another around {self.publication.names[cells[0]]}.",
            "No table has these totals and these parts: correct what is published.",
            "contradiction",
        )

    def _program(self, cells: Places, rows: Places, trusted: Mask | None) -> Program:
        sides, slack = self.sides[rows], self.slack[rows]
        part = self.matrix[rows][:, cells]
        span = Bounds(sides - slack, sides + slack)
        return Program(part, self._bounds(cells, trusted), span, self.knowledge.integer)

    def _bounds(self, cells: Places, trusted: Mask | None = None) -> Bounds:
        published = self.publication
        ranges = published.ranges if trusted is None else published.ranges.only(trusted)
        return published.bounds.within(ranges).rows(cells)

    def _finding(self, place: int, cells: Places, rows: Places, program: Program) -> Finding:
        cell = int(cells[place])
        least, most = program.extreme(place, 1.0), program.extreme(place, -1.0)
        verdict = self._verdict(cell, least.value, most.value)
        proofs = () if verdict is Verdict.SAFE else (least, most)
        used = self._certificate(cell, cells, rows, proofs)
        return Finding(cell, self.publication.names[cell], least.value, most.value, verdict, used)

    def _verdict(self, cell: int, lower: float, upper: float) -> Verdict:
        low, high = self.promise.low[cell], self.promise.high[cell]
        scale = abs(lower) if np.isfinite(lower) else 1.0
        # A range of no width tells the value, whatever was promised; how far a range reaches is judged less finely.
        if upper - lower <= TOLERANCE + 1e-10 * scale:
            return Verdict.EXACT
        if np.isnan(low):
            return Verdict.SAFE
        slack = TOLERANCE * max(1.0, scale)
        return Verdict.TOO_NARROW if lower > low + slack or upper < high - slack else Verdict.SAFE

    def _certificate(self, cell: int, cells: Places, rows: Places, proofs: Sequence[Extreme]) -> tuple[str, ...]:
        """The published cells, and the masked ones with their ranges, in the combination that bounds a cell."""
        named = np.zeros(len(self.masked), bool)
        for proof in proofs:
            named |= (np.abs(self.matrix[rows].T @ proof.relations) > 1e-9) & ~self.masked
            named[cells[np.abs(proof.bounds) > 1e-9]] = True
        named[cell] = False
        return tuple(self.publication.names[other] for other in np.flatnonzero(named))

    def _with_insiders(self, findings: list[Finding], cells: Places, rows: Places, program: Program) -> list[Finding]:
        """The findings again, now that each single respondent attacks with his own value."""
        alone, own = self.knowledge.alone, self.own_values
        if alone is None or own is None:
            return findings
        result, bounds = list(findings), self._bounds(cells)
        for insider in np.flatnonzero(alone[cells]):
            program.bound(int(insider), own[cells[insider]], own[cells[insider]])
            for place in np.flatnonzero(~np.isnan(self.promise.low[cells])):
                if place != insider and result[place].verdict is Verdict.SAFE:
                    finding = self._finding(int(place), cells, rows, program)
                    if finding.verdict is not Verdict.SAFE:
                        result[place] = replace(finding, insider=self.publication.names[cells[insider]])
            program.bound(int(insider), bounds.low[insider], bounds.high[insider])
        return result
