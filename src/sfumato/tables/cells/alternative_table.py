"""Witnesses: other tables that agree with the publication, as deviations from the true values."""

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Numbers, Places


@dataclass(frozen=True, slots=True)
class AlternativeTable:
    """Deviations of some cells, claimed to satisfy every constraint, by which a cell has a different value.

    Attributes:
        cell: The cell that it is for.
        cells: The cells that deviate, including that one.
        amounts: The deviations.
    """

    cell: int
    cells: Places
    amounts: Numbers
