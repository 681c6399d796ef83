"""Sort the rows of a published table by their codes alone, whatever the input order.

Rows sorted by their values would reveal a suppressed value by its neighbors.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.table_part import TablePart
from sfumato.values import replace

Rank = tuple[tuple[float, str], ...]


def by_codes(parts: Sequence[TablePart], columns: TextColumns) -> list[int]:
    """Return the rows of the source in order: by group, each total before its parts, numbers before texts.

    A table given by cells and constraints has ids instead of codes.
    """
    ranked = []
    for part in parts:
        group = tuple(ordered(text) for text in part.group)
        ranked += [(group, rank, int(row)) for rank, row in zip(_ranks(part, columns), part.rows, strict=True)]
    return [row for *_, row in sorted(ranked)]


def _ranks(part: TablePart, columns: TextColumns) -> Iterable[tuple[Any, ...]]:
    if not part.trees:
        return [((ordered(text),),) for text in columns.rows(part.rows).text("id")]
    return _by_trees(part.trees, part.keys)


def _by_trees(trees: Sequence[CodeTree], keys: Sequence[Key]) -> Iterable[tuple[int, ...]]:
    """Return the position of the codes of each key within each dimension."""
    places = []
    for tree, codes in zip(trees, zip(*keys, strict=True), strict=True):
        order = sorted(set(codes), key=lambda code: _path(tree, code))
        places.append({code: place for place, code in enumerate(order)})
    columns = zip(places, zip(*keys, strict=True), strict=True)
    return zip(*([own[code] for code in codes] for own, codes in columns), strict=True)


def office_order(table: ArgusTable) -> list[int]:
    """Return the order in which the cells of an ArgusTable are published; without dimensions the order is kept."""
    if not table.trees:
        return list(range(len(table)))
    ranks = list(_by_trees(table.trees, table.keys))
    return sorted(range(len(table)), key=ranks.__getitem__)


def office_in_order(table: ArgusTable) -> ArgusTable:
    """Return an ArgusTable with its cells, and the codes of its trees, in published order.

    Trees built from cells list codes in order of appearance, so they are sorted too.
    """
    if not table.trees:
        return table
    cells = table.rows(np.array(office_order(table), np.int64))
    return cells.with_columns(trees=tuple(_in_order(tree) for tree in table.trees))


def _in_order(tree: CodeTree) -> CodeTree:
    codes = sorted(tree.parents, key=lambda code: _path(tree, code))
    return replace(tree, parents={code: tree.parents[code] for code in codes})


def _path(tree: CodeTree, code: Code) -> Rank:
    """Return the codes from below the total down to a code; empty for the total, which is therefore first."""
    if tree.levels:
        return tuple(ordered(text) for text in code[: tree.height(code)])
    path: list[tuple[float, str]] = []
    while code != tree.root:
        path.append(ordered(code[0]))
        code = tree.parents[code]
    return tuple(reversed(path))


def ordered(text: str) -> tuple[float, str]:
    """Return the sort key of a code: numbers by size, then all other texts.

    >>> sorted(["b", "10", "9", "a", "nan"], key=ordered)
    ['9', '10', 'a', 'b', 'nan']
    """
    try:
        number = float(text)
    except ValueError:
        return math.inf, text
    return (number, text) if math.isfinite(number) else (math.inf, text)
