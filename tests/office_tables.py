"""Office tables compared, and read from instances: folders with cells and relations.

Cells have `id`, codes, `value`, `status`, `cost`, `lb`, `ub`, `lpl`, `upl`.

The hierarchies of spanning variables are found in the relations: where all cells of a relation differ in one variable
alone, the code of the total lies above those of its parts.
"""

from pathlib import Path

import numpy as np

from sfumato.tables.argus.office_table import MARKS, ArgusTable
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import LinearConstraints, Numbers, make_constraints

NUMBERS = ("value", "freq", "nhold", "status", "cost", "lb", "ub", "lpl", "upl", "id", "MAX")


def read_instance(folder: Path, spanning: tuple[str, ...] = ()) -> ArgusTable:
    """The table of a folder with `cells.csv` and `relations.csv`.

    Args:
        folder: The folder.
        spanning: The columns with the codes; a table of relations alone without them.
    """
    columns = read_columns(folder / "cells.csv")
    relations = _relations(read_columns(folder / "relations.csv"))
    keys: tuple[Key, ...] = tuple(
        tuple((code,) for code in codes) for codes in zip(*(columns.text(name) for name in spanning), strict=True)
    )
    return ArgusTable(
        value="value",
        trees=tuple(_tree(name, place, keys, relations) for place, name in enumerate(spanning)),
        keys=keys,
        values=columns.numbers("value"),
        statuses=np.array([int(MARKS[mark]) for mark in columns.text("status")], np.int64),
        frequency=_numbers(columns, "freq"),
        largest=tuple(columns.numbers(name) for name in ("top1", "top2") if name in columns),
        lower=_numbers(columns, "lpl"),
        upper=_numbers(columns, "upl"),
        costs=_numbers(columns, "cost"),
        low=_numbers(columns, "lb"),
        high=_numbers(columns, "ub"),
        given=None if spanning else relations,
    )


def _numbers(columns: TextColumns, name: str) -> Numbers | None:
    return columns.numbers(name) if name in columns else None


def _relations(columns: TextColumns) -> LinearConstraints:
    rows: dict[str, tuple[list[int], list[float]]] = {}
    coefs = columns.numbers("coef")
    for name, cell, coef in zip(columns.text("relation"), columns.text("cell_id"), coefs, strict=True):
        own = rows.setdefault(name, ([], []))
        own[0].append(int(cell))
        own[1].append(float(coef))
    return make_constraints(rows.values(), [f"relation {name}" for name in rows])


def _tree(name: str, place: int, keys: tuple[Key, ...], relations: LinearConstraints) -> CodeTree:
    parents: dict[Code, Code] = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        above = keys[int(cells[coefs < 0][0])][place]
        for cell in cells[coefs > 0]:
            code = keys[int(cell)][place]
            if code != above:
                parents[code] = above
    root = next((key[place] for key in keys if key[place] not in parents), ("Total",))
    return CodeTree(name, root, parents)


def are_same(one: ArgusTable, other: ArgusTable) -> bool:
    """Whether both are the same table, whatever the order of their cells: codes, values, statuses."""
    if len(one) != len(other) or len(one.trees) != len(other.trees):
        return False
    if not one.trees:
        return np.array_equal(one.values, other.values) and _rows(one) == _rows(other)
    places = {key: place for place, key in enumerate(other.keys)}
    if set(places) != set(one.keys):
        return False
    order = [places[key] for key in one.keys]
    trees = all(dict(a.parents) == dict(b.parents) for a, b in zip(one.trees, other.trees, strict=True))
    near = np.array_equal(one.values, other.values[order])
    return trees and near and bool((one.statuses == other.statuses[order]).all())


def _rows(table: ArgusTable) -> list[list[tuple[int, float]]]:
    relations = table.relations()
    rows = (zip(*(part.tolist() for part in relations.row(place)), strict=True) for place in range(len(relations)))
    return sorted(sorted(row) for row in rows)
