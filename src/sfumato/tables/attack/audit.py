"""The audit: compute the feasibility interval of every suppressed cell, for each attacker.

It shares no code with the methods. For each suppressed cell two linear programs give the minimum and the maximum that
agree with the published cells and ranges, the relations, and the bounds that anyone would assume; then every insider is
tried with what they know. Programs run on deviations from the true values if these are known; an optimum near a limit
is proved again in exact arithmetic.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError
from sfumato.tables.attack.attacker_view import AttackerView
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.audit_problem import AttackedTable
from sfumato.tables.attack.components import Component
from sfumato.tables.attack.findings import Audit, DisclosureStatus, Finding
from sfumato.tables.attack.insiders import attack_from_within
from sfumato.tables.attack.time_budget import Pace
from sfumato.tables.cells.attacker_knowledge import AttackerKnowledge
from sfumato.tables.cells.cells import Bounds, Numbers, Places
from sfumato.tables.deadline import FOREVER
from sfumato.tables.linear_programs import component_labels

# Up to this many suppressed cells are audited as one component; splitting them would cost more than it saves.
FEW = 60


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

    >>> from sfumato.tables.cells.cells import make_constraints, no_bounds
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


@dataclass
class _Attack:
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
        raise DataError(
            f"the published cells contradict one another around {self.table.publication.names[cells[0]]}.",
            "No table has these totals and these parts: correct what is published.",
            "contradiction",
        )


__all__ = ["audit_publication"]
