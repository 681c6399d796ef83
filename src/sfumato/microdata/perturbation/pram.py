"""PRAM, the post-randomization method: categories are changed with known probabilities.

Gouweleeuw, J., Kooiman, P., Willenborg, L., de Wolf, P.-P. (1998). Post randomisation for statistical disclosure
control. Journal of Official Statistics 14(4). With stay = d and shares t of the categories, P = d I + (1 - d) 1 tᵀ is
invariant: the expected number of each category stays the same. Anyone who has the matrix can correct estimates from the
rows.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.errors import DataError
from sfumato.microdata.models.equivalence_classes import Floats

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Transition:
    """Probabilities of changing category: from a row's category to a column's."""

    categories: tuple[str, ...]
    matrix: Floats

    def to_dict(self) -> dict[str, dict[str, float]]:
        return {
            category: dict(zip(self.categories, row, strict=True))
            for category, row in zip(self.categories, self.matrix.tolist(), strict=True)
        }


def invariant(categories: Sequence[str], counts: npt.NDArray[np.integer], stay: float) -> Transition:
    """Return the transition that preserves the expected number of each category."""
    shares = counts / max(int(counts.sum()), 1)
    matrix = stay * np.eye(len(categories)) + (1 - stay) * np.tile(shares, (len(categories), 1))
    return Transition(tuple(categories), matrix)


def given(categories: Sequence[str], matrix: Mapping[str, Mapping[str, float]], column: str) -> Transition:
    """Return the transition given in a plan.

    Raises:
        DataError: The data have categories that the matrix does not know.
    """
    targets = dict.fromkeys(name for row in matrix.values() for name in row)
    # In a fixed order, independent of the categories of these rows: a random number then gives the same category in
    # every release.
    known = tuple(sorted({*categories, *targets}))
    unknown = [name for name in categories if name not in matrix]
    if unknown:
        raise DataError("pram-matrix", column=column, count=len(unknown)).about(values=unknown, column=column)
    rows = [[matrix.get(name, {name: 1.0}).get(target, 0.0) for target in known] for name in known]
    return Transition(known, np.array(rows))


def randomized(codes: Codes, transition: Transition, draws: Floats) -> Codes:
    """Return the category that is drawn for each row.

    Args:
        codes: The category of each row.
        draws: A number from 0 up to 1 for each row.
    """
    ends = np.cumsum(transition.matrix, axis=1)
    drawn: Codes = (draws[:, None] * ends[codes, -1][:, None] >= ends[codes]).sum(axis=1)
    chosen: Codes = np.minimum(drawn, len(transition.categories) - 1)
    return chosen
