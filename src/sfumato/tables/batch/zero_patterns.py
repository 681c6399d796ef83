"""Other tables of the same records that show which cells have records and which are empty."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.batch.implicit_cells import TableCells
from sfumato.tables.batch.linked_variables import VariableTable
from sfumato.tables.batch.shared_cells import agree
from sfumato.tables.cells.system import BoolArray
from sfumato.tables.formats.argus_outputs import Protected


@dataclass(frozen=True, slots=True)
class ZeroPattern:
    """Which cells of a table have records.

    Attributes:
        filled: Which of its cells may have records; cells that it does not list have none.
    """

    table: ArgusTable
    filled: BoolArray

    def by(self, view: VariableTable) -> "ZeroPattern":
        """Return the same in linked variables."""
        return ZeroPattern(view.table, self.filled[view.cells])

    @property
    def cells(self) -> TableCells:
        """The table, used only for its empty cells."""
        return TableCells(self.table, np.zeros(0, np.int64), filled=self.filled)


def presence_of(table: ArgusTable, changed: bool = False) -> ZeroPattern:
    """Return which cells have records, as far as the table shows; perturbed or suppressed cells always may have some.

    Args:
        changed: Whether its numbers were perturbed.
    """
    if changed or table.frequency is None:
        return ZeroPattern(table, np.ones(len(table), bool))
    return ZeroPattern(table, np.asarray((table.frequency > 0) | masked_of(table.statuses)))


def shown_presence(done: Protected) -> ZeroPattern:
    """Return which cells have records, as far as the published table shows."""
    return presence_of(done.table, done.published is not None)


def same_respondents(one: ArgusTable, two: ArgusTable) -> bool:
    """Return whether tables of different responses count the same records, by the number of respondents per cell."""
    if one.frequency is None or two.frequency is None:
        return False
    return agree(one.with_columns(values=one.frequency), two.with_columns(values=two.frequency))
