"""The classification metric: rows whose class mostly has another label than they, and suppressed rows.

With a column of labels (say, who earns more), a model trained on the release can tell at best the most frequent label
of each class. So a row pays 1 when its label is not that one, or when it is suppressed. The loss is the number of such
rows: Bayardo, R., Agrawal, R. (2005), https://doi.org/10.1109/ICDE.2005.42; divided by all rows it is the metric of
Iyengar, V. (2002), https://doi.org/10.1145/775047.775089.

It looks at one use of the data only: columns that do not help to tell the label are blurred without a price.

Why pruning stays exact. The most frequent label of a merged class covers at most what those of its parts cover
together, so the rows that pay in classes, suppressed or not, only grow towards coarser nodes; that is the
generalization part. A suppressed class pays the rest, the rows with its most frequent label, on top; those are at most
the same of its parts together, and parts of a class that fails have failed before.
"""

from typing import ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.losses.class_sizes import ClassLoss
from sfumato.microdata.losses.loss import Terms
from sfumato.microdata.models.classes import Counts, Histogram, Mask


def most_frequent(content: Histogram) -> Counts:
    """For each class, the rows with its most frequent value.

    >>> from sfumato.microdata.models.classes import histogram
    >>> entries = np.array([0, 0, 1]), np.array([0, 1, 1], np.int32), np.array([2, 3, 4])
    >>> most_frequent(histogram(*entries, classes=2, size=2)).tolist()
    [3, 4]
    """
    most = np.zeros(len(content.starts) - 1, np.int64)
    np.maximum.at(most, content.owners, content.counts)
    return most


@dataclass(frozen=True, slots=True)
class Classification(ClassLoss):
    """Rows that do not have the most frequent label of their class, and suppressed rows.

    Attributes:
        column: The column of labels.
    """

    column: str
    suppression_falls: ClassVar[bool] = True

    def terms(self, grouped: Grouped, failing: Mask, suppressed_rows: int) -> Terms:  # noqa: ARG002
        most = most_frequent(grouped.classes.sensitive[self.column])
        return Terms(float((grouped.sizes - most).sum()), float(most[failing].sum()))
