"""What an attacker sees of a table: published values, ranges and suppressed cells."""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation between cells that an attacker knows in addition to the constraints: Σ coefs · values = side."""

    cells: tuple[int, ...]
    coefs: tuple[float, ...]
    side: float


@dataclass(frozen=True, slots=True)
class AttackerView:
    """The published part of a table, and public knowledge about it.

    Attributes:
        exact: The published values; NaN if suppressed.
        ranges: The published intervals; NaN if there is none.
        bounds: The a priori bounds of each cell.
        constraints: The additive constraints, which everyone knows.
        equations: What follows for an attacker who knows the method.
        hidden: Hidden cells: in no table, and not to be protected; None if there are none.
    """

    exact: Numbers
    ranges: Bounds
    bounds: Bounds
    constraints: LinearConstraints
    names: tuple[str, ...]
    equations: tuple[Equation, ...] = ()
    hidden: BoolArray | None = None

    def matrix(self) -> Any:
        """Return constraints and equations (rows) by cells (columns)."""
        from scipy.sparse import csr_matrix, vstack

        size = len(self.exact)
        rows = [place for place, equation in enumerate(self.equations) for _ in equation.cells]
        cells = [cell for equation in self.equations for cell in equation.cells]
        coefs = [coef for equation in self.equations for coef in equation.coefs]
        more = csr_matrix((coefs, (rows, cells)), shape=(len(self.equations), size))
        return vstack([self.constraints.matrix(size), more]).tocsr() if rows else self.constraints.matrix(size)

    def sides(self) -> Numbers:
        """Return the right-hand sides of those rows."""
        return np.concatenate([np.zeros(len(self.constraints)), [equation.side for equation in self.equations]])


def false_cells(publication: AttackerView, values: Numbers, step: float) -> tuple[str, ...]:
    """Return the names of cells whose published value or interval excludes the true value."""
    slack = step / 2
    ranges = publication.ranges
    outside = (values < ranges.low - slack) | (values > ranges.high + slack)
    wrong = np.where(np.isnan(publication.exact), outside, np.abs(values - publication.exact) > slack)
    return tuple(publication.names[cell] for cell in np.flatnonzero(wrong))
