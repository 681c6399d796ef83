"""Maps from the labels of one level to those of a higher one, packed, for the pairs of levels that a search uses."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.counts.key_packing import Packing, Words

Levels = npt.NDArray[np.int16]


class LevelMaps:
    """All level maps in one array, so that a compiled loop finds them by itself.

    Attributes:
        labels: The labels, shifted to their position in a key.
        begins: (columns, levels, levels) where the map from one level of a column to another begins.
    """

    def __init__(self, ladders: Sequence[Hierarchy], packing: Packing) -> None:
        self.ladders = ladders
        self.packing = packing
        height = max((ladder.height for ladder in ladders), default=1)
        self.labels: Words = np.zeros(256, np.uint64)
        self.begins = np.zeros((len(ladders), height, height), np.int64)
        self._steps: set[tuple[int, int, int]] = set()
        self._used = 0

    def know(self, low: Sequence[int], high: Sequence[int]) -> None:
        """Prepare the maps from one node to another."""
        for column, pair in enumerate(zip(low, high, strict=True)):
            if pair[0] != pair[1] and (column, *pair) not in self._steps:
                self._add(column, *pair)

    def step(self, column: int, low: int, high: int) -> Words:
        """Return for each label of a level its label at a higher one, shifted to its position in a key."""
        if (column, low, high) not in self._steps:
            self._add(column, low, high)
        begin = int(self.begins[column, low, high])
        return self.labels[begin : begin + len(self.ladders[column].labels[low])]

    def _add(self, column: int, low: int, high: int) -> None:
        new = self.ladders[column].step(low, high).astype(np.uint64) << self.packing.shift[column]
        while self._used + len(new) > len(self.labels):
            self.labels = np.concatenate([self.labels, np.zeros_like(self.labels)])
        self.labels[self._used : self._used + len(new)] = new
        self.begins[column, low, high] = self._used
        self._used += len(new)
        self._steps.add((column, low, high))
