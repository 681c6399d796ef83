"""Audit published tables of different response variables of the same records, which show each other's empty cells."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.attack.findings import Audit, joined
from sfumato.tables.batch.zero_patterns import ZeroPattern
from sfumato.tables.build.implicit_cells import presence_in
from sfumato.tables.build.linked_table import InputTable, join
from sfumato.tables.build.table_views import TableView
from sfumato.tables.cells.cells import BoolArray
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import as_counts
from sfumato.tables.published_tables.audit_linked import review_several
from sfumato.tables.published_tables.parse_cells import ParsedTable
from sfumato.tables.published_tables.rows_left_out import with_rows_left_out

OTHER_COLUMNS = (
    "which cells are empty by tables of another value, for these have levels of columns that stand alone in the others."
)


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """A published table with its plan, its dimensions, and what it shows."""

    plan: TablePlan
    sheet: InputTable
    reading: ParsedTable

    @property
    def whole(self) -> "ReleasedTable":
        """The table with the rows of 0 that it leaves out, where rules look at these."""
        columns, reading = with_rows_left_out(self.sheet.columns, self.plan, self.reading, self.sheet.dimensions)
        return replace(self, sheet=replace(self.sheet, columns=columns), reading=reading)

    @property
    def filled(self) -> BoolArray:
        """Where it shows that there may be records: a sum of 0 is not nothing, a count of 0 is."""
        counted = as_counts(self.plan.table, self.reading.exact) is not None
        return np.asarray((self.reading.exact != 0) | (not counted))


def review_responses(responses: Sequence[Sequence[ReleasedTable]]) -> Audit:
    """Attack published tables together, those of one response as sums of one cross.

    Args:
        responses: For each response its tables.

    Raises:
        DataError: Tables differ in a cell that they share, or published totals do not add up.
    """
    audits = []
    for own in responses:
        others = [one for other in responses if other is not own for one in other]
        presences = _presences(own, others)
        audit = review_several(own[0].plan, [one.sheet for one in own], [one.reading for one in own], presences or ())
        if presences is None:
            audit = replace(audit, not_audited=(*audit.not_audited, OTHER_COLUMNS))
        audits.append(_named(audit, own[0].plan.table.value) if others else audit)
    return audits[0] if len(audits) == 1 else joined(audits, tuple(dict.fromkeys(_unjudged(audits))))


def _presences(own: Sequence[ReleasedTable], others: Sequence[ReleasedTable]) -> list[ZeroPattern] | None:
    """What tables of other responses tell of where there are records; None where they link columns that others do not.

    Codes are named by all tables together: those of linked columns are others than each column has.
    """
    folder = own[0].plan.folder
    alone = join([one.sheet for one in own], folder)
    together = join([one.sheet for one in (*own, *others)], folder)
    if [_axes(section) for section in alone.sections] != [_axes(one) for one in together.sections[: len(own)]]:
        return None
    sections = together.sections[len(own) :]
    return [presence_in(section, one.filled) for section, one in zip(sections, others, strict=True)]


def _axes(section: TableView) -> list[tuple[str, str]]:
    return [(axis.tree.name, axis.variable) for axis in section.axes]


def _unjudged(audits: Sequence[Audit]) -> list[str]:
    return [rule for audit in audits for rule in audit.unjudged]


def _named(audit: Audit, value: str) -> Audit:
    """The audit with the response before the names of cells: others have the same."""
    findings = tuple(replace(finding, name=f"{value}: {finding.name}") for finding in audit.findings)
    known = tuple(replace(end, name=f"{value}: {end.name}") for end in audit.inherently_disclosed)
    false = tuple(f"{value}: {one}" for one in audit.contradictions)
    return replace(audit, findings=findings, contradictions=false, inherently_disclosed=known)
