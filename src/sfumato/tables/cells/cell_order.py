"""A canonical order of cells by name, so that programs with several optima return the same one for any input order."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import (
    BoolArray,
    Bounds,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    Table,
    make_constraints,
)


@dataclass(frozen=True, slots=True)
class CellOrder:
    """An order of cells: `cells` are the positions of the first cell, the second, and so on."""

    cells: Places

    def back(self, numbers: Numbers | BoolArray) -> Numbers:
        """Return numbers in this order in the original order.

        >>> CellOrder(np.array([2, 0, 1])).back(np.array([1.0, 2.0, 3.0])).tolist()
        [2.0, 3.0, 1.0]
        """
        came = np.empty(len(numbers), np.float64)
        came[self.cells] = numbers
        return came

    def table(self, table: Table) -> Table:
        """Return the table with its cells and constraints in this order."""
        cells, reach = self.cells, table.protection_levels
        return table.with_columns(
            values=table.values[cells],
            status=table.status[cells],
            costs=table.costs[cells],
            bounds=Bounds(table.bounds.low[cells], table.bounds.high[cells]),
            protection_levels=ProtectionLevels(reach.lower[cells], reach.upper[cells]),
            constraints=self.relations(table.constraints),
            names=tuple(table.names[cell] for cell in cells),
        )

    def relations(self, relations: LinearConstraints) -> LinearConstraints:
        """Return the constraints between cells in this order, sorted; the total is first in each."""
        places = np.empty(len(self.cells), np.int64)
        places[self.cells] = np.arange(len(self.cells))
        rows = []
        for place in range(len(relations)):
            cells, coefs = relations.row(place)
            rows.append(sorted(zip(coefs.tolist(), places[cells].tolist(), strict=True)))
        return make_constraints([([cell for _, cell in row], [coef for coef, _ in row]) for row in sorted(rows)])


def order_of(table: Table) -> CellOrder:
    """Order the cells of a table by name, and by value among equal names."""
    keys = list(zip(table.names, table.values.tolist(), strict=True))
    return CellOrder(np.array(sorted(range(len(table)), key=keys.__getitem__), np.int64))
