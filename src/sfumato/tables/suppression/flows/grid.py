"""Look up the cells of a table by their codes."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.cells import Places
from sfumato.tables.cells.coordinates import Coordinates


class CellIndex:
    """Finds cells by their codes."""

    def __init__(self, coordinates: Coordinates) -> None:
        sizes = [len(above) for above in coordinates.above]
        self._strides = np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]]).astype(np.int64)
        keys = coordinates.codes @ self._strides
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def cells(self, codes: Sequence[Places]) -> Places:
        """The cells of some codes, dimension by dimension; -1 where there is none."""
        keys = np.zeros((), np.int64)
        for numbers, stride in zip(codes, self._strides, strict=True):
            keys = keys[..., None] + numbers * stride
        places = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[places] == keys, self._order[places], -1)
