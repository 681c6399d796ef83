"""The cross of tables some of whose common cells may have different values, so that they are not sums of one cross."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.argus.statuses import choices_of
from sfumato.tables.batch.code_coverage import Coverage
from sfumato.tables.batch.implicit_cells import ImplicitCells, TableCells, cross_of
from sfumato.tables.batch.linked_variables import VariableTable
from sfumato.tables.batch.shared_cells import SharedCells
from sfumato.tables.batch.zero_patterns import ZeroPattern
from sfumato.tables.cells.cells import BoolArray, CellStatus, LinearConstraints, Places


def shared_cross(
    coverage: Coverage,
    shared: SharedCells,
    views: Sequence[VariableTable],
    size: int,
    presences: Sequence[ZeroPattern] = (),
) -> ImplicitCells:
    """Build the implicit cells, numbered after the other cells; those below differing cells are left out.

    Args:
        coverage: What codes of the tables cover, followed by those of the tables of other values.
        shared: The cells of the tables.
        views: The tables in linked variables.
        size: Number of other cells.
        presences: Tables of other values of the same records.

    Raises:
        UnattainableError: There would be too many cells.
    """
    differing = np.unique([place for first, own in shared.others.items() for place in (first, *own.values())])
    tables = [
        TableCells(view.table, own[view.cells], _below(view.whole.relations(), np.isin(own, differing))[view.cells])
        for view, own in zip(views, shared.places, strict=True)
    ]
    empty, linked = _empty(shared, size), frozenset().union(*(view.linked for view in views))
    # If values of both signs occur, an empty cell still has no records.
    return cross_of(coverage, [*tables, *(one.cells for one in presences)], empty, linked)


def _empty(shared: SharedCells, size: int) -> BoolArray:
    """Return the publicly empty cells; none if values of both signs occur, because a sum of 0 may then have records."""
    empty = np.zeros(size, bool)
    if any((table.values < 0).any() for table in shared.tables):
        return empty
    for table, own in zip(shared.tables, shared.places, strict=True):
        empty[own[(table.values == 0) & (choices_of(table.statuses) == CellStatus.PUBLISH)]] = True
    return empty


def _below(relations: LinearConstraints, differing: BoolArray) -> BoolArray:
    """Return the finest differing cells and all parts of these."""
    parts: dict[int, list[int]] = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        for total in cells[coefs < 0].tolist() if differing.any() else ():
            parts.setdefault(total, []).extend(cells[coefs > 0].tolist())
    waiting = [cell for cell in np.flatnonzero(differing).tolist() if not differing[_places(parts.get(cell))].any()]
    below = np.zeros(len(differing), bool)
    while waiting:
        cell = waiting.pop()
        if not below[cell]:
            below[cell] = True
            waiting += parts.get(cell, ())
    return below


def _places(cells: list[int] | None) -> Places:
    return np.array(cells or [], np.int64)
