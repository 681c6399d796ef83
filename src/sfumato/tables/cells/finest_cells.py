"""Express every cell of a table as a sum of its finest cells."""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import LinearConstraints, Places
from sfumato.tables.cells.constraints import finest_of


@dataclass(frozen=True, slots=True)
class InnerSums:
    """The finest cells, and a sparse matrix (cells by finest cells) that adds them up to all cells."""

    inner: Places
    matrix: Any


def inner_sums(relations: LinearConstraints, size: int) -> InnerSums:
    """Express every cell as a sum of finest cells.

    >>> from sfumato.tables.cells.cells import make_constraints
    >>> inner_sums(make_constraints([([0, 1, 2], [-1, 1, 1])]), 3).matrix.toarray().tolist()
    [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_matrix

    inner = np.flatnonzero(finest_of(relations, size))
    rows = _rows(inner, _parts(relations), size)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    places = np.array([place for row in rows for place in row], np.int64)
    return InnerSums(inner, csr_matrix((np.ones(len(places)), places, starts), shape=(size, len(inner))))


def _parts(relations: LinearConstraints) -> dict[int, list[int]]:
    """Return the parts of each total, from its first constraint."""
    parts: dict[int, list[int]] = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if (coefs < 0).sum() == 1:
            parts.setdefault(int(cells[coefs < 0][0]), cells[coefs > 0].tolist())
    return parts


def _rows(inner: Places, parts: dict[int, list[int]], size: int) -> list[list[int]]:
    known = {int(cell): [place] for place, cell in enumerate(inner)}

    def of(cell: int) -> list[int]:
        if cell not in known:
            known[cell] = [place for part in parts.get(cell, []) for place in of(part)]
        return known[cell]

    return [of(cell) for cell in range(size)]
