"""The classification metric: rows whose class mostly has a different target value, plus suppressed rows.

Given a target column (for example income group), a classifier trained on the release can at best predict the most
frequent target value of each class. A row therefore costs 1 when it has another value or is suppressed. The loss is the
number of such rows: Bayardo, R., Agrawal, R. (2005), https://doi.org/10.1109/ICDE.2005.42; divided by all rows it is
the metric of Iyengar, V. (2002), https://doi.org/10.1145/775047.775089.

It measures one use of the data only: columns that do not help to predict the target are generalized at no cost.

Why pruning stays exact. The most frequent value of a merged class covers at most as many rows as those of its parts
together, so the rows that cost 1 in classes, suppressed or not, only increase towards coarser nodes; that is the
generalization part. A suppressed class adds the remaining rows, those with its most frequent value. These are at most
as many as in its parts together, and the parts of a violating class violate, too.
"""

from typing import ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.losses.class_sizes import ClassLoss
from sfumato.microdata.losses.loss import LossTerms
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Histogram


def most_frequent(content: Histogram) -> Counts:
    """Return for each class the number of rows with its most frequent value.

    >>> from sfumato.microdata.models.equivalence_classes import histogram
    >>> entries = np.array([0, 0, 1]), np.array([0, 1, 1], np.int32), np.array([2, 3, 4])
    >>> most_frequent(histogram(*entries, classes=2, size=2)).tolist()
    [3, 4]
    """
    most = np.zeros(len(content.starts) - 1, np.int64)
    np.maximum.at(most, content.owners, content.counts)
    return most


@dataclass(frozen=True, slots=True)
class Classification(ClassLoss):
    """Number of rows without the most frequent target value of their class, and of suppressed rows.

    Attributes:
        column: The target column.
    """

    column: str
    suppression_falls: ClassVar[bool] = True

    def terms(self, grouped: Grouped, failing: BoolArray, suppressed_rows: int) -> LossTerms:  # noqa: ARG002
        most = most_frequent(grouped.classes.sensitive[self.column])
        return LossTerms(float((grouped.sizes - most).sum()), float(most[failing].sum()))
