"""Rows per combination of texts, and the differences between two such counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.models.equivalence_classes import Counts

Texts = Sequence[str | None]
Codes = npt.NDArray[np.signedinteger[Any]]
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class CountDifference:
    """The number of rows of each combination of texts; duplicate combinations are added.

    Attributes:
        texts: The texts of each column; None is the missing value.
        codes: The indices of each combination's texts, (combinations, columns).
    """

    texts: tuple[Texts, ...]
    codes: Codes
    rows: Counts

    @property
    def total(self) -> int:
        return int(self.rows.sum())

    def differing(self, other: "CountDifference") -> int:
        """Return how many combinations have a different number of rows in the other count.

        >>> one, two = np.array([[0], [1]]), np.array([5, 7])
        >>> other = CountDifference((["b", "a", "c"],), np.array([[1], [2]]), np.array([5, 7]))
        >>> CountDifference((["a", "b"],), one, two).differing(other)
        2
        """
        return int(np.count_nonzero(self._differences(other)))

    def exceeded(self, other: "CountDifference") -> int:
        """Return how many combinations have more rows in the other count."""
        return int(np.count_nonzero(self._differences(other) < 0))

    def _differences(self, other: "CountDifference") -> Counts:
        """Return the difference in rows of each combination of both counts."""
        columns = [_together(*texts) for texts in zip(self.texts, other.texts, strict=True)]
        parts = [
            np.column_stack([places[codes[:, at]] for at, places in enumerate(luts)])
            for codes, luts in (
                (self.codes, [here for _, here, _ in columns]),
                (other.codes, [there for _, _, there in columns]),
            )
        ]
        owners, _ = numbers_of(np.concatenate(parts), [size for size, _, _ in columns])
        return np.bincount(owners, weights=np.concatenate([self.rows, -other.rows])).astype(np.int64)


def _together(here: Texts, there: Texts) -> tuple[int, Codes, Codes]:
    """Return the number of distinct texts in two lists, and the number of each text of both."""
    numbers: dict[str | None, int] = {}
    found = [np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64) for texts in (here, there)]
    return len(numbers), found[0], found[1]


def numbers_of(codes: Codes, sizes: Sequence[int]) -> tuple[Counts, Counts]:
    """Number combinations, equal ones alike, in the order of their codes; also return their first positions.

    Args:
        sizes: How many codes each column has.

    >>> numbers_of(np.array([[1, 0], [0, 2], [1, 0]]), [2, 3])
    (array([1, 0, 1]), array([1, 0]))
    """
    keys, span = np.zeros(len(codes), np.int64), 1
    for column, size in enumerate(sizes):
        if span * size > MOST:
            unique, keys = np.unique(keys, return_inverse=True)
            span = len(unique)
        keys = keys * size + codes[:, column]
        span *= max(size, 1)
    _, first, owners = np.unique(keys, return_index=True, return_inverse=True)
    return owners.reshape(-1), first
