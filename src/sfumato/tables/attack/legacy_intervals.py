"""Audit of the legacy ranges by an attacker who knows the method: the ranges are functions of hidden values.

A range of case C is the range of its total, moved by the difference of the two values; a range of case A·1 is moved by
the sum of the candidate and the one other suppressed cell. Both differences are hidden, and both can be read from the
published bounds. Ranges that the audit itself would give reveal nothing and are kept.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.tables.attack.attacker_view import AttackerView, Equation
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import Audit
from sfumato.tables.attack.inherent_disclosure import audit_promises
from sfumato.tables.cell_labels import SuppressionReason
from sfumato.tables.cells.system import BoolArray, Bounds
from sfumato.tables.cells.table_part import TablePart

_FOLLOWING = re.compile(r"^C\d+$")
_CANDIDATE = re.compile(r"^A(\d+)1$")
_ORIGINAL = re.compile(r"^([AB]\d+[12]|C\d+)$")


def attack(
    publication: AttackerView,
    part: TablePart,
    case: Sequence[str],
    promise: Bounds | None = None,
    evidence: AuditEvidence | None = None,
) -> tuple[Audit, TablePart]:
    """Audit a publication for an attacker who also knows the legacy method, if its cases are shown.

    Also returns the table with the protection levels that were lowered because of inherent disclosure.

    Args:
        publication: The published values and intervals.
        part: The table.
        case: The case of each cell.
        promise: The protection interval of each cell; by default that of the table.
        evidence: Supplied alternative tables, and the deadlines.
    """
    values = part.table.values
    if promise is None:
        plain, part = audit_promises(publication, part, evidence)
        promise = part.table.protection_interval
    else:
        plain = audit_publication(publication, promise, part.knowledge, values, evidence)
    original = np.array([bool(_ORIGINAL.match(text)) for text in case], bool)
    if not original.any() or not _tells_more(publication, promise, part, original):
        return plain, part
    read = equations(part, publication, case)
    if not read:
        return plain, part
    audit = audit_publication(replace(publication, equations=read), promise, part.knowledge, values)
    return replace(audit, inherently_disclosed=plain.inherently_disclosed), part


def _tells_more(publication: AttackerView, promise: Bounds, part: TablePart, original: BoolArray) -> bool:
    """Return whether a legacy interval is narrower than what the rest of the publication implies."""
    ranges = publication.ranges
    rest = replace(publication, ranges=ranges.only(~original))
    return any(
        original[finding.cell]
        and (ranges.low[finding.cell] > finding.lower + 1e-6 or ranges.high[finding.cell] < finding.upper - 1e-6)
        for finding in audit_publication(rest, promise, part.knowledge, part.table.values).findings
    )


def equations(part: TablePart, publication: AttackerView, case: Sequence[str]) -> tuple[Equation, ...]:
    """Return the equations between suppressed values that follow from the published interval ends."""
    relations = part.table.constraints
    read: list[Equation | None] = []
    for relation in range(len(relations)):
        cells, _ = relations.row(relation)
        upper, lower = int(cells[0]), [int(cell) for cell in cells[1:]]
        read += [_following(publication, upper, cell) for cell in lower if _FOLLOWING.match(case[cell])]
        read += [_beside(publication, lower, cell, case) for cell in lower if _CANDIDATE.match(case[cell])]
    return tuple(equation for equation in read if equation is not None)


def _following(publication: AttackerView, upper: int, cell: int) -> Equation | None:
    """Case C: the total minus its part equals the difference of their lower ends."""
    side = publication.ranges.low[upper] - publication.ranges.low[cell]
    return Equation((upper, cell), (1.0, -1.0), float(side)) if np.isfinite(side) else None


def _beside(publication: AttackerView, lower: Sequence[int], cell: int, case: Sequence[str]) -> Equation | None:
    """Case A·1: the candidate plus the one cell suppressed before it equals the sum of their opposite ends."""
    match = _CANDIDATE.match(case[cell])
    step = int(match.group(1)) if match else 0
    before = (SuppressionReason.PRIMARY,) if step == 1 else (f"A{step - 1}2", f"B{step - 1}2")
    masked = [other for other in lower if other != cell and case[other] in before]
    if len(masked) != 1:
        return None
    side = publication.ranges.high[cell] + publication.ranges.low[masked[0]]
    return Equation((cell, masked[0]), (1.0, 1.0), float(side)) if np.isfinite(side) else None
