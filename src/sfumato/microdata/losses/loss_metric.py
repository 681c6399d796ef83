"""The loss metric: the share of the domain that a published value covers in addition to the original value.

A value generalized to x loses (M-1)/(|A|-1), with M the number of domain values that x covers and |A| the size of the
column's domain (that of its hierarchy). A column's loss is the mean over rows; a suppressed row loses 1. Iyengar, V.
(2002). Transforming data to satisfy privacy constraints, https://doi.org/10.1145/775047.775089. ARX normalizes the
covered share M/|A| to 0..1 in the same way.

It does not measure relations between columns: two slightly generalized columns may have lost their association.
"""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.models.equivalence_classes import Floats


@dataclass(frozen=True, slots=True)
class LossMetric:
    """(M-1)/(|A|-1) for each label."""

    ladders: tuple[Hierarchy, ...]

    def kept(self, column: int, level: int) -> Floats:
        return self.ladders[column].penalties[level]

    def suppressed(self, column: int, level: int) -> Floats:
        return np.ones(len(self.ladders[column].labels[level]))
