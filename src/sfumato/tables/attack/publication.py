"""What an attacker sees of a table, what he knows besides, and what he must not find out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Relations


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
        range_low: Lower ends of published ranges; not a number where there is none.
        range_high: Upper ends.
        floor: The least value that anyone would hold possible for a cell.
        ceiling: The greatest.
        relations: The additive relations, which everyone knows.
        names: A name for each cell.
        equations: What the publication says besides, to one who knows how it was made.
    """

    exact: Numbers
    range_low: Numbers
    range_high: Numbers
    floor: Numbers
    ceiling: Numbers
    relations: Relations
    names: tuple[str, ...]
    equations: tuple[Equation, ...] = ()

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


@dataclass(frozen=True, slots=True)
class Promise:
    """What the attacker's range of each cell must contain; not a number where nothing is promised."""

    low: Numbers
    high: Numbers


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the attacker has besides the publication.

    Attributes:
        integer: Whether he knows that all values are whole numbers.
        alone: Cells with one respondent, each of whom attacks the others with his own value.
        own_values: What those respondents know.
        rounding: How far the published totals may be off their parts.
    """

    integer: bool = False
    alone: Mask | None = None
    own_values: Numbers | None = None
    rounding: float = 0.0


def false_cells(publication: Publication, values: Numbers) -> tuple[str, ...]:
    """The cells whose published value is not the true one, or whose published range does not hold it."""
    slack = 1e-6 * np.maximum(1.0, np.abs(values))
    masked = np.isnan(publication.exact)
    outside = (values < publication.range_low - slack) | (values > publication.range_high + slack)
    wrong = np.where(masked, outside, np.abs(values - publication.exact) > slack)
    return tuple(publication.names[cell] for cell in np.flatnonzero(wrong))
