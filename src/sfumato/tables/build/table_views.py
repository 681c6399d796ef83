"""Extract one of several combined tables, with the names of its own codes."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable, plain_table
from sfumato.tables.batch.code_coverage import variable_of
from sfumato.tables.build.common_codes import CommonDimension
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import Places

# The codes of a cell in the dimensions that two tables share.
Shared = frozenset[object]


@dataclass(frozen=True, slots=True)
class TableView:
    """One of several linked tables: `cells` are the joint cells of its rows, `axes` the common names of its codes."""

    name: str
    columns: TextColumns
    trees: tuple[CodeTree, ...]
    keys: tuple[Key, ...]
    cells: Places
    axes: tuple[CommonDimension, ...]

    @property
    def variables(self) -> list[str]:
        """The common names of its dimensions."""
        return [variable_of(axis.tree) for axis in self.axes]

    def finest(self, place: int) -> list[Code]:
        """Return the finest codes of a dimension."""
        tree = self.trees[place]
        there, totals = {key[place] for key in self.keys}, set(tree.parents.values())
        return [code for code in tree.parents if code in there and code not in totals]

    def rows_by(self, place: int, shared: frozenset[str]) -> dict[tuple[Code, Shared], int]:
        """Return the rows by the code of a dimension and of the shared variables, with totals in all others."""
        kept = [own for own, name in enumerate(self.variables) if name in shared]
        others = [own for own in range(len(self.trees)) if own not in kept and own != place]
        roots = [tree.root for tree in self.trees]
        return {
            (key[place], self._shared(key, kept)): row
            for row, key in enumerate(self.keys)
            if all(key[own] == roots[own] for own in others)
        }

    def _shared(self, key: Key, kept: Sequence[int]) -> Shared:
        return frozenset(self.axes[own].names[key[own]] for own in kept if key[own] != self.trees[own].root)


def coded_table(section: TableView) -> ArgusTable:
    """Return the table with common codes; its values are placeholders."""
    axes = section.axes
    keys = tuple(tuple(axis.code(code) for axis, code in zip(axes, key, strict=True)) for key in section.keys)
    table = plain_table("", tuple(axis.tree for axis in axes), keys, np.ones(len(keys)))
    return table.with_columns(origins={axis.tree.name: axis.finest for axis in axes if axis.finest})
