"""One independent table of a source, with its place in it."""

from dataclasses import dataclass

from sfumato.tables.cells import Mask, Numbers, Places, Table
from sfumato.tables.dimensions import Tree
from sfumato.tables.relations import Key, finest_of


@dataclass(frozen=True, slots=True)
class Part:
    """One independent table: the rows of a group.

    Attributes:
        rows: The rows of the source that are its cells.
        table: The cells with their promises.
        trees: The dimensions; empty for a table given by cells and relations.
        keys: The codes of each cell.
        group: The group's values, for messages.
        floor: The least value that a reader of the table holds possible for each cell, who is not told which masked
            cells are primary; the table's own bounds, where not given.
        ceiling: The greatest such value.
    """

    rows: Places
    table: Table
    trees: tuple[Tree, ...] = ()
    keys: tuple[Key, ...] = ()
    group: tuple[str, ...] = ()
    floor: Numbers | None = None
    ceiling: Numbers | None = None

    @property
    def finest(self) -> Mask:
        """Cells that are no total of others."""
        return finest_of(self.table.relations, len(self.table))

    @property
    def public(self) -> tuple[Numbers, Numbers]:
        """The bounds that a reader knows."""
        floor = self.table.lower if self.floor is None else self.floor
        return floor, self.table.upper if self.ceiling is None else self.ceiling
