"""What an attacker sees of a table: published values, ranges and suppressed cells."""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Relations


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation between cells that an attacker knows besides the relations: Σ coefs · values = side."""

    cells: tuple[int, ...]
    coefs: tuple[float, ...]
    side: float


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published of a table, and what anyone knows of it.

    Attributes:
        exact: The published values; not a number where masked.
        ranges: The published ranges; not a number where there is none.
        bounds: Between which values anyone would hold a cell possible.
        relations: The additive relations, which everyone knows.
        names: A name for each cell.
        equations: What the publication says besides, to one who knows how it was made.
        unshown: Cells that are in no table, and of which nothing is to be found out.
    """

    exact: Numbers
    ranges: Bounds
    bounds: Bounds
    relations: Relations
    names: tuple[str, ...]
    equations: tuple[Equation, ...] = ()
    unshown: Mask | None = None

    def matrix(self) -> Any:
        """Relations and equations, one a row, by cells."""
        from scipy.sparse import csr_matrix, vstack

        size = len(self.exact)
        rows = [place for place, equation in enumerate(self.equations) for _ in equation.cells]
        cells = [cell for equation in self.equations for cell in equation.cells]
        coefs = [coef for equation in self.equations for coef in equation.coefs]
        more = csr_matrix((coefs, (rows, cells)), shape=(len(self.equations), size))
        return vstack([self.relations.matrix(size), more]).tocsr() if rows else self.relations.matrix(size)

    def sides(self) -> Numbers:
        """The right-hand sides of those rows."""
        return np.concatenate([np.zeros(len(self.relations)), [equation.side for equation in self.equations]])


def false_cells(publication: Publication, values: Numbers, step: float) -> tuple[str, ...]:
    """The cells whose published value is not the true one, or whose published range does not hold it."""
    slack = step / 2
    ranges = publication.ranges
    outside = (values < ranges.low - slack) | (values > ranges.high + slack)
    wrong = np.where(np.isnan(publication.exact), outside, np.abs(values - publication.exact) > slack)
    return tuple(publication.names[cell] for cell in np.flatnonzero(wrong))
