"""Witnesses: other tables that agree with the publication, as deviations from the true values."""

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Numbers, Places


@dataclass(frozen=True, slots=True)
class Witness:
    """Deviations of some cells, said to keep every relation, with which a cell lies elsewhere than it does.

    Attributes:
        cell: The cell that it is about.
        cells: The cells that deviate, that one among them.
        amounts: By how much.
    """

    cell: int
    cells: Places
    amounts: Numbers
