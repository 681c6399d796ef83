"""The audit of published tables of different responses of the same records: each shows the others where nothing is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.tables.attack.findings import Audit, joined
from sfumato.tables.batch.presence import Presence
from sfumato.tables.build.joint import Sheet, join
from sfumato.tables.build.joint_cross import presence_in
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import Frequency, Range
from sfumato.tables.published.reading import Reading
from sfumato.tables.published.review_several import review_several


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """A published table with its plan, its dimensions, and what it shows."""

    plan: TablePlan
    sheet: Sheet
    reading: Reading

    @property
    def presence(self) -> Presence:
        """Where it shows that there are records: a sum of 0 is not nothing, a count of 0 is."""
        section = join([self.sheet], self.plan.folder).sections[0]
        rules = self.plan.primary
        counts = self.plan.table.counts and all(isinstance(rule, Frequency | Range) for rule in rules)
        return presence_in(section, np.asarray((self.reading.exact != 0) | (not counts)))


def review_responses(responses: Sequence[Sequence[ReleasedTable]]) -> Audit:
    """Attack published tables together, those of one response as sums of one cross.

    Args:
        responses: For each response its tables.

    Raises:
        DataError: Tables differ in a cell that they share, or published totals do not add up.
    """
    audits = []
    for own in responses:
        others = [one.presence for other in responses if other is not own for one in other]
        audit = review_several(own[0].plan, [one.sheet for one in own], [one.reading for one in own], others)
        audits.append(audit if len(responses) == 1 else _named(audit, own[0].plan.table.value))
    return audits[0] if len(audits) == 1 else joined(audits, tuple(dict.fromkeys(_unjudged(audits))))


def _unjudged(audits: Sequence[Audit]) -> list[str]:
    return [rule for audit in audits for rule in audit.unjudged]


def _named(audit: Audit, value: str) -> Audit:
    """The audit with the response before the names of cells: others have the same."""
    findings = tuple(replace(finding, name=f"{value}: {finding.name}") for finding in audit.findings)
    return replace(audit, findings=findings, contradictions=tuple(f"{value}: {one}" for one in audit.contradictions))
