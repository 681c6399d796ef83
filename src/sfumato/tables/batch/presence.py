"""Other tables of the same records that show which cells have records and which are empty."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.batch.cross_cells import TableCells
from sfumato.tables.batch.linked_variables import View
from sfumato.tables.batch.shared_cells import agree
from sfumato.tables.cells.cells import Mask
from sfumato.tables.formats.outputs import Protected
from sfumato.tables.office.office_table import OfficeTable
from sfumato.tables.office.statuses import masked_of


@dataclass(frozen=True, slots=True)
class Presence:
    """What a table tells of where there are records.

    Attributes:
        table: The table.
        filled: Which of its cells may have some; in cells that it does not list there are none.
    """

    table: OfficeTable
    filled: Mask

    def by(self, view: View) -> "Presence":
        """The same by linked variables."""
        return Presence(view.table, self.filled[view.cells])

    @property
    def cells(self) -> TableCells:
        """The table as one that only shows empty cells."""
        return TableCells(self.table, np.zeros(0, np.int64), filled=self.filled)


def presence_of(table: OfficeTable, changed: bool = False) -> Presence:
    """Where a table shows that there are records: a sum of 0 is not nothing, a changed 0 and a mask are none of these.

    Args:
        table: The table.
        changed: Whether its numbers were changed.
    """
    if changed or table.frequency is None:
        return Presence(table, np.ones(len(table), bool))
    return Presence(table, np.asarray((table.frequency > 0) | masked_of(table.statuses)))


def shown_presence(done: Protected) -> Presence:
    """Where a table as it is published shows that there are records."""
    return presence_of(done.table, done.published is not None)


def same_respondents(one: OfficeTable, two: OfficeTable) -> bool:
    """Whether tables of different things are of the same records: cells of the same codes have as many respondents."""
    if one.frequency is None or two.frequency is None:
        return False
    return agree(one.with_columns(values=one.frequency), two.with_columns(values=two.frequency))
