"""Audit results: a feasibility interval and a verdict for each suppressed cell."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from sfumato.dataclass import dataclass
from sfumato.tables.attack.reduced_levels import ReducedLevel
from sfumato.tables.cell_labels import cells_named


class DisclosureStatus(StrEnum):
    """What the attacker achieves on a suppressed cell."""

    SAFE = "safe"
    TOO_NARROW = "too narrow"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Finding:
    """The feasibility interval of one cell, its verdict, and the published cells that disclose it.

    `attacker` names the insider, empty if anyone can compute it. `published` marks a cell that should be suppressed but
    is published; if another table suppresses it, the certificate names the tables that show it.
    """

    cell: int
    name: str
    lower: float
    upper: float
    verdict: DisclosureStatus
    certificate: tuple[str, ...] = ()
    attacker: str = ""
    published: bool = False


@dataclass(frozen=True, slots=True)
class UnexplainedColumn:
    """A column with numbers next to suppressed cells that nothing in the file explains.

    Attributes:
        relation: How its numbers relate to the published values; empty if no relation was found.
        cells: The suppressed cells that follow from the relation.
    """

    name: str
    relation: str = ""
    cells: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The stable code of this finding."""
        return "audit.unexplained_column"

    @property
    def what(self) -> str:
        """A sentence with the finding and what to do."""
        cells = cells_named(self.cells)
        reveals = f"Suppressed cells that follow from it: {cells}." if cells else ""
        do = "Remove it, or name it in table.harmless (--harmless) if it says nothing of them."
        said = f'Column "{self.name}" has numbers next to suppressed cells, and the file does not explain them.'
        return " ".join(filter(None, (said, self.relation, reveals, do)))


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit: one finding for each suppressed cell, and for each cell that should be suppressed.

    Attributes:
        findings: In the order of the cells.
        contradictions: Cells that the publication states falsely, or whose statement contradicts the rest of it.
        unjudged: Rules of the plan that could not be evaluated because a column is missing.
        rounding: How far totals are assumed to differ from the sum of their parts, because published ones do.
        not_audited: What was not audited, and why; it may disclose cells.
        by_cases: Whether the table shows which suppressed cells are primary, so that the attacker knows more about
            the others.
        inherently_disclosed: Protection levels that were lowered, because the value can be inferred whatever is
            suppressed.
        unexplained: Columns with numbers next to suppressed cells that nothing explains.
        unlisted: Combinations without a row that no number shows to be empty, and that were taken to be.
        all_unsafe: Whether every suppressed cell was treated as sensitive, because the file does not mark secondary
            ones.
    """

    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    rounding: float = 0.0
    not_audited: tuple[str, ...] = ()
    by_cases: bool = False
    inherently_disclosed: tuple[ReducedLevel, ...] = ()
    all_unsafe: bool = False
    unexplained: tuple[UnexplainedColumn, ...] = ()
    unlisted: tuple[str, ...] = ()

    def __repr__(self) -> str:
        figures = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self.counts().items())
        return f"Audit({'passed' if self.passed else 'FAILED'}; {figures})"

    @property
    def checked(self) -> int:
        return sum(not finding.published for finding in self.findings)

    @property
    def exact(self) -> int:
        return sum(finding.verdict is DisclosureStatus.EXACT for finding in self.findings)

    @property
    def too_narrow(self) -> int:
        return sum(finding.verdict is DisclosureStatus.TOO_NARROW for finding in self.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is not DisclosureStatus.SAFE)

    @property
    def failing(self) -> tuple[str, ...]:
        """What makes the audit fail: disclosed or contradicted cells, unexplained columns, what was not audited."""
        columns = (one.name for one in self.unexplained)
        leaks = (leak.name for leak in self.leaks)
        return tuple(dict.fromkeys((*leaks, *self.contradictions, *columns, *self.not_audited)))

    @property
    def passed(self) -> bool:
        return not (self.leaks or self.contradictions or self.unexplained or self.not_audited)

    def with_contradictions(self, names: Iterable[str]) -> "Audit":
        """Return the same findings with further cells that the publication contradicts."""
        return replace(self, contradictions=tuple(dict.fromkeys((*self.contradictions, *names))))

    def counts(self) -> dict[str, int]:
        """Return the numbers of cells checked, exactly disclosed, too narrow, and contradicted."""
        figures = {"checked": self.checked, "exact": self.exact, "too_narrow": self.too_narrow}
        return figures | {"inconsistent": len(self.contradictions)}


def joined(audits: Iterable[Audit], unjudged: tuple[str, ...] = ()) -> Audit:
    """Merge the audits of several tables."""
    listed = list(audits)
    findings = tuple(finding for audit in listed for finding in audit.findings)
    names = tuple(name for audit in listed for name in audit.contradictions)
    rounding = max((audit.rounding for audit in listed), default=0.0)
    unattacked = tuple(dict.fromkeys(what for audit in listed for what in audit.not_audited))
    known = tuple(end for audit in listed for end in audit.inherently_disclosed)
    by_cases = any(audit.by_cases for audit in listed)
    unexplained = tuple(dict.fromkeys(one for audit in listed for one in audit.unexplained))
    return Audit(findings, names, unjudged, rounding, unattacked, by_cases, known, unexplained=unexplained)
