"""Losses based on class sizes: discernibility and average class size.

- `discernibility`: each row costs the size of its class, a suppressed row the number of all rows. Bayardo, R., Agrawal,
  R. (2005), https://doi.org/10.1109/ICDE.2005.42.
- `average-class-size`: rows / classes, with all suppressed rows as one class. LeFevre, K. et al. (2006),
  https://doi.org/10.1109/ICDE.2006.101 (there also divided by k, which changes no comparison).

Both depend on sizes only: a class of similar rows costs as much as a class of very different rows.

Why pruning stays exact. Discernibility: a row costs at least max(size of its class, k) here and, because its class only
grows, at every coarser node; that is the generalization part. A suppressed row costs N - max(size, k) in addition, and
a row suppressed at a node is suppressed at all finer ones, in a smaller class. Average class size: merging never adds a
class, so rows / all classes bounds all coarser nodes.
"""

from typing import ClassVar

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.losses.loss import LossTerms, SweepResult, Window, summed_over_lattice
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats, Histogram
from sfumato.values import Value


class ClassLoss(Value):
    """Base of losses on class sizes: before a node is grouped, only its maximum number of classes is known."""

    table: FrequencyTable

    def floors(self, window: Window) -> Floats:
        return np.zeros([levels.stop - levels.start for levels in window])

    def _most_classes(self, window: Window) -> Floats:
        """Return for every node of a part of the lattice the maximum number of classes its labels can form."""
        most = np.ones(())
        for ladder, levels in zip(self.table.ladders, window, strict=True):
            most = most[..., None] * np.array([max(len(labels), 1) for labels in ladder.labels[levels]], np.float64)
        return most

    def ranks(self, window: Window) -> Floats:
        """Return levels as shares of the hierarchies' heights."""
        heights = [ladder.height for ladder in self.table.ladders]
        return summed_over_lattice([np.arange(height) / max(height - 1, 1) for height in heights], window)

    def charges(self) -> None:
        return None

    def value(self, total: float) -> float:
        return total

    def per_column(self, grouped: Grouped, failing: BoolArray) -> dict[str, float]:  # noqa: ARG002
        return {}


class Discernibility(ClassLoss):
    """Sum of squared class sizes, and all rows for each suppressed one.

    Attributes:
        k: The least size of a class that is kept.
    """

    k: int = 1
    suppression_falls: ClassVar[bool] = True

    def floors(self, window: Window) -> Floats:
        """Return lower bounds: the sum of squares is smallest if all classes have equal size."""
        return self.table.rows**2 / self._most_classes(window)

    def terms(self, grouped: Grouped, failing: BoolArray, suppressed_rows: int) -> LossTerms:  # noqa: ARG002
        sizes = grouped.sizes
        least = np.maximum(sizes, self.k)
        added = sizes[failing] * (self.table.rows - least[failing])
        return LossTerms(float((sizes * least).sum()), float(added.sum()))

    def swept_terms(self, swept: SweepResult) -> tuple[Floats, Floats]:
        added = self.table.rows * swept.suppressed_rows - swept.lost_squares
        return swept.squares.astype(np.float64), added.astype(np.float64)


class AverageClassSize(ClassLoss):
    """Rows over classes, the suppressed rows counting as one class."""

    suppression_falls: ClassVar[bool] = False

    def floors(self, window: Window) -> Floats:
        return self.table.rows / self._most_classes(window)

    def terms(self, grouped: Grouped, failing: BoolArray, suppressed_rows: int) -> LossTerms:  # noqa: ARG002
        failed = int(failing.sum())
        plain = self.table.rows / max(len(failing), 1)
        return LossTerms(plain, self.table.rows / max(len(failing) - failed + (failed > 0), 1) - plain)

    def swept_terms(self, swept: SweepResult) -> tuple[Floats, Floats]:
        plain = self.table.rows / swept.all_classes
        published = swept.classes + (swept.suppressed_rows > 0)
        return plain, self.table.rows / published - plain


def most_frequent(content: Histogram) -> Counts:
    """Return for each class the number of rows with its most frequent value.

    Given a target column (for example income group), a classifier trained on the release can at best predict the most
    frequent target value of each class. A row therefore costs 1 when it has another value or is suppressed. The loss is
    the number of such rows: Bayardo, R., Agrawal, R. (2005), https://doi.org/10.1109/ICDE.2005.42; divided by all rows
    it is the metric of Iyengar, V. (2002), https://doi.org/10.1145/775047.775089.

    It measures one use of the data only: columns that do not help to predict the target are generalized at no cost.

    Why pruning stays exact. The most frequent value of a merged class covers at most as many rows as those of its parts
    together, so the rows that cost 1 in classes, suppressed or not, only increase towards coarser nodes; that is the
    generalization part. A suppressed class adds the remaining rows, those with its most frequent value. These are at
    most as many as in its parts together, and the parts of a violating class violate, too.

    >>> from sfumato.microdata.models.equivalence_classes import histogram
    >>> entries = np.array([0, 0, 1]), np.array([0, 1, 1], np.int32), np.array([2, 3, 4])
    >>> most_frequent(histogram(*entries, classes=2, size=2)).tolist()
    [3, 4]
    """
    most = np.zeros(len(content.starts) - 1, np.int64)
    np.maximum.at(most, content.owners, content.counts)
    return most


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
