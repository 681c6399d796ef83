"""What an attacker who knows the original's method reads from its ranges: they are functions of hidden values.

A range of case C is the range of its total, moved by the difference of the two values; a range of case A·1 is moved by
the sum of the candidate and the one masked cell beside it. Both differences are hidden, and both can be read from the
published ends. Ranges that the audit itself would give carry no such secret, and are left alone.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.tables.attack.audit import Audit, audit_publication
from sfumato.tables.attack.publication import Equation, Knowledge, Promise, Publication
from sfumato.tables.cells.cells import Mask
from sfumato.tables.cells.parts import Part

_FOLLOWING = re.compile(r"^C\d+$")
_CANDIDATE = re.compile(r"^A(\d+)1$")
_ORIGINAL = re.compile(r"^([AB]\d+[12]|C\d+)$")


def attack(publication: Publication, promise: Promise, knowledge: Knowledge, part: Part, case: Sequence[str]) -> Audit:
    """The audit of a publication, by an attacker who also knows the original's method where its cases are shown."""
    plain = audit_publication(publication, promise, knowledge)
    original = np.array([bool(_ORIGINAL.match(text)) for text in case], bool)
    if not _tells_more(publication, promise, knowledge, original):
        return plain
    found = equations(part, publication, case)
    return audit_publication(replace(publication, equations=found), promise, knowledge) if found else plain


def _tells_more(publication: Publication, promise: Promise, knowledge: Knowledge, original: Mask) -> bool:
    """Whether a range of the original's is narrower than what the rest of the publication says anyway."""
    if not original.any():
        return False
    low = np.where(original, np.nan, publication.range_low)
    high = np.where(original, np.nan, publication.range_high)
    own = audit_publication(replace(publication, range_low=low, range_high=high), promise, knowledge)
    return any(
        original[finding.cell]
        and (
            publication.range_low[finding.cell] > finding.lower + 1e-6
            or publication.range_high[finding.cell] < finding.upper - 1e-6
        )
        for finding in own.findings
    )


def equations(part: Part, publication: Publication, case: Sequence[str]) -> tuple[Equation, ...]:
    """The equations between hidden values that the published ends give away."""
    relations = part.table.relations
    found: list[Equation | None] = []
    for relation in range(len(relations)):
        cells, _ = relations.row(relation)
        upper, lower = int(cells[0]), [int(cell) for cell in cells[1:]]
        found += [_following(publication, upper, cell) for cell in lower if _FOLLOWING.match(case[cell])]
        found += [_beside(publication, lower, cell, case) for cell in lower if _CANDIDATE.match(case[cell])]
    return tuple(equation for equation in found if equation is not None)


def _following(publication: Publication, upper: int, cell: int) -> Equation | None:
    """Case C: total minus part is the difference of their lower ends."""
    side = publication.range_low[upper] - publication.range_low[cell]
    return Equation((upper, cell), (1.0, -1.0), float(side)) if np.isfinite(side) else None


def _beside(publication: Publication, lower: Sequence[int], cell: int, case: Sequence[str]) -> Equation | None:
    """Case A·1: the candidate and the one cell masked before it add up to their opposite ends."""
    match = _CANDIDATE.match(case[cell])
    step = int(match.group(1)) if match else 0
    before = ("primär",) if step == 1 else (f"A{step - 1}2", f"B{step - 1}2")
    masked = [other for other in lower if other != cell and case[other] in before]
    if len(masked) != 1:
        return None
    side = publication.range_high[cell] + publication.range_low[masked[0]]
    return Equation((cell, masked[0]), (1.0, 1.0), float(side)) if np.isfinite(side) else None
