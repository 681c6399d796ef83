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

from sfumato.errors import DataError, InternalError, missing_extra
from sfumato.tables.attack.publication import Publication
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Places
from sfumato.tables.cells.parts import Knowledge

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
    """

    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...] = ()

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
        """The figures of the report."""
        figures = {"checked": self.checked, "exact": self.exact, "too_narrow": self.too_narrow}
        return figures | ({"contradictory": len(self.contradictions)} if self.contradictions else {})


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

    def _without_false_ranges(self, cells: Places, rows: Places) -> "_Program":
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

    def _program(self, cells: Places, rows: Places, trusted: Mask | None) -> "_Program":
        sides, slack = self.sides[rows], self.slack[rows]
        part = self.matrix[rows][:, cells]
        return _Program(
            part, Bounds(sides - slack, sides + slack), self._bounds(cells, trusted), self.knowledge.integer
        )

    def _bounds(self, cells: Places, trusted: Mask | None = None) -> Bounds:
        published = self.publication
        ranges = published.ranges if trusted is None else published.ranges.only(trusted)
        return published.bounds.within(ranges).rows(cells)

    def _finding(self, place: int, cells: Places, rows: Places, program: "_Program") -> Finding:
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

    def _certificate(self, cell: int, cells: Places, rows: Places, proofs: Sequence["_Extreme"]) -> tuple[str, ...]:
        """The published cells, and the masked ones with their ranges, in the combination that bounds a cell."""
        named = np.zeros(len(self.masked), bool)
        for proof in proofs:
            named |= (np.abs(self.matrix[rows].T @ proof.relations) > 1e-9) & ~self.masked
            named[cells[np.abs(proof.bounds) > 1e-9]] = True
        named[cell] = False
        return tuple(self.publication.names[other] for other in np.flatnonzero(named))

    def _with_insiders(
        self, findings: list[Finding], cells: Places, rows: Places, program: "_Program"
    ) -> list[Finding]:
        """The findings again, now that each single respondent attacks with his own value."""
        alone, own = self.knowledge.alone, self.own_values
        if alone is None or own is None:
            return findings
        result = list(findings)
        for insider in np.flatnonzero(alone[cells]):
            program.fix(int(insider), float(own[cells[insider]]))
            for place in np.flatnonzero(~np.isnan(self.promise.low[cells])):
                if place != insider and result[place].verdict is Verdict.SAFE:
                    finding = self._finding(int(place), cells, rows, program)
                    if finding.verdict is not Verdict.SAFE:
                        result[place] = replace(finding, insider=self.publication.names[cells[insider]])
            program.release(int(insider))
        return result


@dataclass(frozen=True, slots=True)
class _Extreme:
    """An extreme value of a cell, with the multipliers of the relations and of the bounds that prove it."""

    value: float
    relations: Numbers
    bounds: Numbers


class _Program:
    """The attacker's linear (or integer) program on one component."""

    def __init__(self, matrix: Any, sides: Bounds, bounds: Bounds, integer: bool) -> None:
        try:
            import highspy
        except ImportError:
            raise missing_extra("highspy", "tables") from None
        self._solver = highspy
        model = highspy.HighsLp()
        columns = matrix.tocsc()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_ = np.zeros(matrix.shape[1])
        model.col_lower_, model.col_upper_ = bounds.low, bounds.high
        model.row_lower_, model.row_upper_ = sides.low, sides.high
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = columns.indptr
        model.a_matrix_.index_ = columns.indices
        model.a_matrix_.value_ = columns.data
        if integer:
            model.integrality_ = [highspy.HighsVarType.kInteger] * matrix.shape[1]
        self._bounds, self._integer = bounds, integer
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("presolve", "choose" if integer else "off")
        self._highs.passModel(model)

    def feasible(self) -> bool:
        """Whether anything agrees with the publication."""
        self._highs.run()
        return bool(self._highs.getModelStatus() == self._solver.HighsModelStatus.kOptimal)

    def extreme(self, place: int, direction: float) -> _Extreme:
        """The least (direction 1) or greatest (-1) value of a cell, and why."""
        highs, statuses = self._highs, self._solver.HighsModelStatus
        open_ended = (statuses.kUnbounded, statuses.kUnboundedOrInfeasible)
        highs.changeColCost(place, direction)
        highs.run()
        if highs.getModelStatus() not in (statuses.kOptimal, *open_ended):
            # A start from the last answer may lead the solver nowhere; from nothing it finds its way.
            highs.clearSolver()
            highs.run()
        status = highs.getModelStatus()
        highs.changeColCost(place, 0.0)
        nothing = _Extreme(-direction * np.inf, np.zeros(highs.getNumRow()), np.zeros(highs.getNumCol()))
        if status in open_ended:
            return nothing
        if status != statuses.kOptimal:
            raise InternalError("the attacker's program was not solved.", code="audit")
        solution = highs.getSolution()
        value = float(solution.col_value[place])
        if self._integer:
            return replace(nothing, value=value)
        return _Extreme(value, np.array(solution.row_dual), np.array(solution.col_dual))

    def fix(self, place: int, value: float) -> None:
        """Let the attacker know a cell."""
        self._highs.changeColBounds(place, value, value)

    def release(self, place: int) -> None:
        """Let him forget it."""
        self._highs.changeColBounds(place, self._bounds.low[place], self._bounds.high[place])
