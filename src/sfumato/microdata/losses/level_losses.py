"""Losses based on levels of the hierarchies: score, precision and height.

- `score`: level / number of levels, summed over columns; suppressed rows are not counted.
- `height`: the sum of the levels; suppressed rows are not counted. Samarati, P. (2001),
  https://doi.org/10.1109/69.971193.
- `precision` (as a loss: 1 - Prec): level / highest level; a suppressed row loses 1. Sweeney, L. (2002),
  https://doi.org/10.1142/S021848850200165X.

They ignore how many values a level merges: in a hierarchy of two levels, one step costs as much as the whole column.
"""

from collections.abc import Callable

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.models.equivalence_classes import Floats


@dataclass(frozen=True, slots=True)
class LevelLoss:
    """The same loss for every label of a level."""

    ladders: tuple[Hierarchy, ...]
    of: Callable[[int, int], float]
    charges_suppression: bool = False

    def kept(self, column: int, level: int) -> Floats:
        ladder = self.ladders[column]
        return np.full(len(ladder.labels[level]), self.of(level, ladder.height))

    def suppressed(self, column: int, level: int) -> Floats:
        if not self.charges_suppression:
            return self.kept(column, level)
        return np.ones(len(self.ladders[column].labels[level]))


def score(ladders: tuple[Hierarchy, ...]) -> LevelLoss:
    """Level / number of levels.

    >>> score(()).of(3, 10)
    0.3
    """
    return LevelLoss(ladders, lambda level, height: level / height)


def height(ladders: tuple[Hierarchy, ...]) -> LevelLoss:
    """The level itself."""
    return LevelLoss(ladders, lambda level, _: float(level))


def precision(ladders: tuple[Hierarchy, ...]) -> LevelLoss:
    """Level / highest level; a suppressed row loses 1."""
    return LevelLoss(ladders, lambda level, height: level / max(height - 1, 1), charges_suppression=True)
