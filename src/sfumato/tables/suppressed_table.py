"""A protected table: the input, the suppressed cells, and what is published or internal."""

from functools import cached_property

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.attack.findings import Audit, Finding, joined
from sfumato.tables.cell_labels import MASK, PRIMARY_DASH, SuppressionReason, lower_end, span, upper_end
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.table_result import TableAnswer


@dataclass(frozen=True)
class SuppressedTable(TableAnswer[SuppressedCells]):
    """A table with its suppressed cells and the evidence."""

    @property
    def passed(self) -> bool:
        """Whether the audit of every group passed."""
        return self.audit.passed

    @cached_property
    def audit(self) -> Audit:
        """The audits of all groups."""
        return joined(part.audit for part in self.parts)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The suppressed cells whose interval is below the protection level."""
        return self.audit.leaks

    @cached_property
    def public(self) -> TextColumns:
        """What is published, with cases and reasons, without true values and their inputs.

        The cases show which suppressed cells are sensitive: this is internal, `external` is for publication.
        """
        return TextColumns({**self.codes(), **self.new_columns()})

    @cached_property
    def external(self) -> TextColumns:
        """The table for publication: codes, published values and intervals, without distinction between suppressed
        cells.
        """
        names, new = self.names(3), self.new_columns()
        shown = {name: new[name] for name in names}
        shown[names[0]] = tuple(text.replace(PRIMARY_DASH, "-") for text in shown[names[0]])
        return self.in_order(TextColumns({**self.codes(), **shown}))

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """Return the published text of each row, its interval, case and reason."""
        rows: list[tuple[str, ...]] = [()] * len(self.source)
        values = self.source.text(self.plan.table.value)
        for part in self.parts:
            for cell, entry in enumerate(_entries(part)):
                row = int(part.part.rows[cell])
                rows[row] = entry or (values[row], "", "", "", "")
        return dict(zip(self.names(), zip(*rows, strict=True), strict=True))


def _entries(part: SuppressedCells) -> list[tuple[str, ...] | None]:
    """Return for each cell what is published; None if its value is."""
    entries: list[tuple[str, ...] | None] = [None] * len(part.suppressed)
    for cell in np.flatnonzero(part.suppressed):
        low, high = float(part.ends.low[cell]), float(part.ends.high[cell])
        dash = PRIMARY_DASH if part.case[cell] == SuppressionReason.PRIMARY else "-"
        ranged = not (np.isnan(low) or np.isnan(high))
        text = span(low, high, dash) if part.texts and ranged else MASK
        ends = (lower_end(low), upper_end(high)) if ranged else ("", "")
        # A plain text: if a column starts with an enum member, frames would make it an enum column.
        entries[cell] = (text, *ends, str(part.case[cell]), part.reason[cell])
    return entries
