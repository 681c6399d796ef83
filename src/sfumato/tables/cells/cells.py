"""The cells of a table: values, bounds, promises and the additive relations between them, as one sparse system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Status(IntEnum):
    """What may happen to a cell: it may be masked, it must be masked, or it must be published."""

    SAFE = 0
    UNSAFE = 1
    PUBLISH = 2


@dataclass(frozen=True, slots=True)
class Relations:
    """Additive relations M·a = 0 in compressed rows: relation r has the cells `cells[starts[r]:starts[r + 1]]`.

    Attributes:
        starts: Where each relation begins; one more entry than relations.
        cells: The cells of each relation.
        coefs: Their coefficients: -1 for a total, 1 for its parts.
        names: What each relation says, for messages.
    """

    starts: Places
    cells: Places
    coefs: Numbers
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, relation: int) -> tuple[Places, Numbers]:
        """The cells of a relation and their coefficients."""
        part = slice(self.starts[relation], self.starts[relation + 1])
        return self.cells[part], self.coefs[part]

    def matrix(self, cells: int) -> Any:
        """The relations as a sparse matrix, relations by cells."""
        from scipy.sparse import csr_matrix

        # A copy: the library may sort entries in place, but totals stand first in their relations.
        return csr_matrix((self.coefs, self.cells, self.starts), shape=(len(self), cells), copy=True)

    def residuals(self, values: Numbers) -> Numbers:
        """For each relation, what is missing to zero."""
        sums = np.concatenate([[0.0], np.cumsum(self.coefs * values[self.cells])])
        if len(self.cells) and np.abs(sums).max() > 1e12:
            return np.array([self.coefs[a:b] @ values[self.cells[a:b]] for a, b in self._spans()])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def _spans(self) -> Iterable[tuple[int, int]]:
        return zip(self.starts[:-1], self.starts[1:], strict=True)


def make_relations(rows: Iterable[tuple[Sequence[int], Sequence[float]]], names: Sequence[str] = ()) -> Relations:
    """Relations from one pair (cells, coefficients) each.

    >>> len(make_relations([([0, 1, 2], [-1, 1, 1])]))
    1
    """
    listed = list(rows)
    starts = np.concatenate([[0], np.cumsum([len(cells) for cells, _ in listed])]).astype(np.int64)
    cells = np.array([cell for row, _ in listed for cell in row], np.int64)
    coefs = np.array([coef for _, row in listed for coef in row], np.float64)
    return Relations(starts, cells, coefs, tuple(names))


@dataclass(frozen=True, slots=True)
class Table:
    """One table: everything a method or an attacker needs to know about its cells.

    Attributes:
        values: The true values.
        status: A `Status` for each cell.
        costs: What masking a cell costs.
        lower: The least value that anyone would hold possible.
        upper: The greatest such value.
        need_down: How far below its value the attacker's range of an unsafe cell must reach.
        need_up: How far above.
        relations: The additive relations.
        names: A name for each cell, for messages and certificates.
        alone: Cells with a single respondent (holding), who knows the value.
    """

    values: Numbers
    status: npt.NDArray[np.int8]
    costs: Numbers
    lower: Numbers
    upper: Numbers
    need_down: Numbers
    need_up: Numbers
    relations: Relations
    names: tuple[str, ...]
    alone: Mask

    def __post_init__(self) -> None:
        sizes = {len(column) for column in (self.values, self.status, self.costs, self.lower, self.upper)}
        if len(sizes | {len(self.names), len(self.need_down), len(self.need_up), len(self.alone)}) != 1:
            raise ValueError("every column of a table needs one entry for each cell")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def unsafe(self) -> Mask:
        """Which cells must be masked."""
        return np.asarray(self.status == Status.UNSAFE)

    def with_columns(self, **columns: Any) -> Self:
        """The same table with some columns replaced."""
        return replace(self, **columns)


def make_table(values: Sequence[float] | Numbers, relations: Relations, **columns: Any) -> Table:
    """A table with plain defaults: every cell safe, cost its value, not negative, nothing promised.

    >>> make_table([5, 2, 3], make_relations([([0, 1, 2], [-1, 1, 1])])).costs.tolist()
    [5.0, 2.0, 3.0]
    """
    numbers = np.asarray(values, np.float64)
    size = len(numbers)
    defaults: dict[str, Any] = {
        "status": np.zeros(size, np.int8),
        "costs": np.abs(numbers),
        "lower": np.full(size, 0.0 if (numbers >= 0).all() else -np.inf),
        "upper": np.full(size, np.inf),
        "need_down": np.zeros(size),
        "need_up": np.zeros(size),
        "names": tuple(str(place) for place in range(size)),
        "alone": np.zeros(size, bool),
    }
    return Table(values=numbers, relations=relations, **(defaults | columns))
