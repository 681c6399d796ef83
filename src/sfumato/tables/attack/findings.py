"""Input and result of an audit: what an attacker sees of a table, and the findings for suppressed cells."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.cell_labels import cells_named
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places, ProtectionLevels, Table
from sfumato.tables.cells.table_part import TablePart
from sfumato.values import Value, replace

EVERYONE = "everyone"
_ENDS = {"lower": "phrase.known_lower_end", "upper": "phrase.known_upper_end"}
# Maximum number of cells named in one line.
MOST_NAMED = 10


class ReducedLevel(Value):
    """An end of a protection interval that can be inferred whatever is suppressed, and is therefore not guaranteed.

    Attributes:
        cell: The sensitive cell.
        end: Which end, lower or upper.
        requested: The requested protection level on this side.
        promised: The lowered protection level, the highest that is possible.
        attacker: The insider who knows the end; empty if everyone does.
    """

    cell: int
    name: str
    end: Literal["lower", "upper"]
    requested: float
    promised: float
    attacker: Message | None = None


def reduced_levels(asked: TablePart, promised: TablePart) -> tuple[ReducedLevel, ...]:
    """Return the requested protection levels that were lowered, in the order of cells."""
    wish = asked.table.protection_levels if asked.requested is None else asked.requested
    cells = np.flatnonzero(asked.table.sensitive[: len(wish.lower)])
    ends = list(_fewer(asked.table, cells, wish.rows(cells), promised.table.protection_levels.rows(cells)))
    for before, now in zip(asked.knowledge.attackers, promised.knowledge.attackers, strict=True):
        if now is not before:
            wished = ProtectionLevels(
                asked.table.protection_levels.lower.copy(), asked.table.protection_levels.upper.copy()
            )
            wished.lower[before.cells], wished.upper[before.cells] = before.reach.lower, before.reach.upper
            own = ProtectionLevels(wished.lower[now.cells], wished.upper[now.cells])
            ends += _fewer(asked.table, now.cells, own, now.reach, now.name)
    return tuple(sorted(ends, key=lambda end: end.cell))


def _fewer(
    table: Table, cells: Places, asked: ProtectionLevels, promised: ProtectionLevels, attacker: Message | None = None
) -> Iterator[ReducedLevel]:
    """Yield the ends whose protection level was lowered."""
    sides: tuple[tuple[Literal["lower", "upper"], Numbers, Numbers], ...] = (
        ("lower", asked.lower, promised.lower),
        ("upper", asked.upper, promised.upper),
    )
    for end, wished, kept in sides:
        for place in np.flatnonzero(kept < wished):
            cell = int(cells[place])
            yield ReducedLevel(cell, table.names[cell], end, float(wished[place]), float(kept[place]), attacker)


def cells_of(ends: Iterable[ReducedLevel]) -> int:
    """Return the number of cells concerned."""
    return len({end.name for end in ends})


def known_line(ends: Sequence[ReducedLevel]) -> Message:
    """Return one sentence that names the first cells with lowered levels; for internal reports.

    >>> end = ReducedLevel(3, "area a", "lower", 2.0, 0.0, Message("attacker.one_person", name="area b"))
    >>> known_line([end]).partition("suppressed: ")[2]
    'area a (lower end, to the one person of area b).'
    """
    named = [
        Message(_ENDS[end.end], name=end.name, attacker=end.attacker or Message("tabled.everyone")) for end in ends
    ]
    return Message("note.known_cells", count=cells_of(ends), named=cells_named(named))


class DisclosureStatus(StrEnum):
    """The verdict on a cell: protected, too narrow or exact."""

    SAFE = "safe"
    TOO_NARROW = "too narrow"
    EXACT = "exact"


class Finding(Value):
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
    attacker: Message | None = None
    published: bool = False


class UnexplainedColumn(Value):
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


class Audit(Value):
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
        """Why the audit fails: disclosed or contradicted cells, unexplained columns, and what was not audited."""
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


class Equation(Value):
    """An equation between cells that an attacker knows in addition to the constraints: Σ coefs · values = side."""

    cells: tuple[int, ...]
    coefs: tuple[float, ...]
    side: float


class AttackerView(Value):
    """The published part of a table, and public knowledge about it.

    Attributes:
        exact: The published values; NaN if suppressed.
        ranges: The published intervals; NaN if there is none.
        bounds: The a priori bounds of each cell.
        constraints: The additive constraints, which everyone knows.
        equations: What follows for an attacker who knows the method.
        hidden: Hidden cells: in no table, and not to be protected; None if there are none.
    """

    exact: Numbers
    ranges: Bounds
    bounds: Bounds
    constraints: LinearConstraints
    names: tuple[str, ...]
    equations: tuple[Equation, ...] = ()
    hidden: BoolArray | None = None

    def matrix(self) -> Any:
        """Return constraints and equations (rows) by cells (columns)."""
        from scipy.sparse import csr_matrix, vstack

        size = len(self.exact)
        rows = [place for place, equation in enumerate(self.equations) for _ in equation.cells]
        cells = [cell for equation in self.equations for cell in equation.cells]
        coefs = [coef for equation in self.equations for coef in equation.coefs]
        more = csr_matrix((coefs, (rows, cells)), shape=(len(self.equations), size))
        return vstack([self.constraints.matrix(size), more]).tocsr() if rows else self.constraints.matrix(size)

    def sides(self) -> Numbers:
        """Return the right-hand sides of those rows."""
        return np.concatenate([np.zeros(len(self.constraints)), [equation.side for equation in self.equations]])


def false_cells(publication: AttackerView, values: Numbers, step: float) -> tuple[str, ...]:
    """Return the names of cells whose published value or interval excludes the true value."""
    slack = step / 2
    ranges = publication.ranges
    outside = (values < ranges.low - slack) | (values > ranges.high + slack)
    wrong = np.where(np.isnan(publication.exact), outside, np.abs(values - publication.exact) > slack)
    return tuple(publication.names[cell] for cell in np.flatnonzero(wrong))
