"""One independent table of a source, with its place in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sfumato.errors import DataError, UnattainableError
from sfumato.tables.cells.cells import Mask, Numbers, Places, Table
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.cells.relations import Key, finest_of


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


T = TypeVar("T")


def in_rows(work: Callable[[], T], rows: Places, names: Sequence[str]) -> T:
    """What `work` gives; a cell that cannot be protected is named, with its row in the source."""
    try:
        return work()
    except UnattainableError as error:
        cells = [row - 1 for row in error.rows]
        what = f"{', '.join(names[cell] for cell in cells[:5])}: {error.what}"
        name = error.code.partition(".")[2]
        raise UnattainableError(what, error.do, name, rows=[int(rows[cell]) + 1 for cell in cells]) from None


def in_group(error: DataError, group: tuple[str, ...], rows: Places) -> DataError:
    """The same error with the rows of the source, naming the group."""
    where = f" (group {', '.join(group)})" if group else ""
    name = error.code.partition(".")[2]
    numbers = [int(rows[row - 1]) + 1 for row in error.rows]
    return DataError(error.what + where, error.do, name, values=error.values, column=error.column, rows=numbers)
