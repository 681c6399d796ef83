"""The interface of information losses: the cost of a node, split into a generalization and a suppression part.

Every loss can be written as a sum `generalization + suppression` (after a monotone transformation, see
`Prepared.value`). When a node gets coarser, the first part never decreases; the second never increases if the models
are monotone under suppression. That is all a search needs to prune exactly.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.values import Value

# The levels of each column that may be used
Window = tuple[slice, ...]


class LossTerms(Value):
    """The two parts of a loss at a node; their sum, transformed by `Prepared.value`, is the loss."""

    generalization: float
    suppression: float

    @property
    def total(self) -> float:
        return self.generalization + self.suppression


class Charges(Value):
    """The additional loss of suppressing a row, for each column, level and label of the row.

    Attributes:
        values: The losses of all columns and levels in one array.
        offsets: The start of each column's level in `values`, an array (columns, levels).
        constant: The charge if it is the same for every label of a level, else NaN; an array (columns, levels).
    """

    values: Floats
    offsets: Counts
    constant: Floats


class SweepResult(Value):
    """Metrics of the nodes of one height when classes below k are suppressed; one entry per node.

    Attributes:
        levels: The levels of each node, an array (nodes, columns).
        all_classes: Number of classes before suppression.
        classes: Number of classes kept; `smallest` and `largest` are their extreme sizes.
        squares: Sum over all classes of size * max(size, k).
        lost_squares: The same sum over the suppressed classes.
        charges: The additional loss by suppression, summed over rows; an array (nodes, columns).
        all_smallest: Smallest class size before suppression.
        all_largest: Largest class size before suppression.
    """

    levels: Counts
    all_classes: Counts
    suppressed_rows: Counts
    classes: Counts
    smallest: Counts
    largest: Counts
    squares: Counts
    lost_squares: Counts
    charges: Floats
    all_smallest: Counts
    all_largest: Counts


class Prepared(Protocol):
    """A loss prepared for one frequency table.

    Attributes:
        suppression_falls: The suppression part never increases when a node gets coarser (given models that are monotone
            under suppression).
    """

    @property
    def suppression_falls(self) -> bool: ...

    def floors(self, window: Window) -> Floats:
        """Return lower bounds of the generalization part for nodes of a part of the lattice, one axis per column."""
        ...

    def ranks(self, window: Window) -> Floats:
        """Return a rank for each node that increases from fine to coarse and shows a search where the middle is."""
        ...

    def terms(self, grouped: Grouped, failing: BoolArray, suppressed_rows: int) -> LossTerms:
        """Return the parts of the loss at a node after suppressing its violating classes with the given number of
        rows."""
        ...

    def value(self, total: float) -> float:
        """Return the loss for a sum of both parts; it is monotone in the sum."""
        ...

    def per_column(self, grouped: Grouped, failing: BoolArray) -> dict[str, float]:
        """Return the loss of each column, or an empty result if the loss is not defined by columns."""
        ...


@runtime_checkable
class Sweepable(Prepared, Protocol):
    """A loss that depends only on what a sweep over the lattice computes: sizes and labels of classes."""

    def charges(self) -> Charges | None:
        """Return the additional loss of suppressing a row, for losses defined by columns."""
        ...

    def swept_terms(self, swept: SweepResult) -> tuple[Floats, Floats]:
        """Both parts of the loss at the nodes of a sweep."""
        ...


def summed_over_lattice(columns: Sequence[Floats], window: Window) -> Floats:
    """Return for every node of a part of the lattice the sum of the columns' entries at its levels."""
    total = np.zeros(())
    for column, levels in zip(columns, window, strict=True):
        total = total[..., None] + column[levels]
    return total
