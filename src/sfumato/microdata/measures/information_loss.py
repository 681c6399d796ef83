"""Information loss of a release by every loss, per column and in total, whichever one the method minimized.

For full-domain recodings the losses are exactly those a plan can ask for. For classes with labels of their own
(mondrian, local, k-optimize) `loss-metric` is the share of a numeric column's range, or of its other values, that a
label covers. Losses based on levels have no meaning there and are left out.
"""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.measures.recoded_view import ColumnView, RecodedView, distinct_pairs
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.recoding.recoding import LevelRecoding, Recoding

BY_COLUMN = ("loss-metric", "precision", "non-uniform-entropy", "score", "height")


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """A loss: in total, and of each column if it is defined by columns."""

    name: str
    value: float
    per_column: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value} | ({"per_column": self.per_column} if self.per_column else {})


def losses(table: FrequencyTable, recoding: Recoding, view: RecodedView) -> tuple[InformationLoss, ...]:
    """Return all losses of a release."""
    sizes = _sizes(recoding, view)
    if isinstance(recoding, LevelRecoding):
        return (*_by_levels(table, recoding), *sizes)
    metric = {column.name: _covered(view, column) for column in view.columns}
    entropy = {column.name: _entropy(view, place) for place, column in enumerate(view.columns)}
    return (
        InformationLoss("loss-metric", sum(metric.values()), metric),
        InformationLoss("non-uniform-entropy", sum(entropy.values()), entropy),
        *sizes,
    )


def _by_levels(table: FrequencyTable, recoding: LevelRecoding) -> list[InformationLoss]:
    """Return the losses of a node, by the same functions that a search minimizes."""
    grouper = Grouper(table)
    grouped, owners = grouper.rolled_with_owners(recoding.node)
    failing = np.zeros(len(recoding.suppressed), bool)
    failing[owners] = recoding.suppressed[recoding.owners]
    weights = (1.0,) * len(table.columns)
    losses = []
    for name in BY_COLUMN:
        parts = prepare(name, table, weights).per_column(grouped, failing)  # type: ignore[arg-type]
        losses.append(InformationLoss(name, sum(parts.values()), parts))
    return losses


def _sizes(recoding: Recoding, view: RecodedView) -> list[InformationLoss]:
    """The losses of class sizes."""
    kept = recoding.sizes[~recoding.suppressed].astype(np.float64)
    suppressed = view.table.rows - view.rows
    squares = float((kept**2).sum()) + float(suppressed) * view.table.rows
    classes = len(kept) + (suppressed > 0)
    average = view.table.rows / max(classes, 1)
    return [InformationLoss("discernibility", squares, {}), InformationLoss("average-class-size", average, {})]


def _covered(view: RecodedView, column: ColumnView) -> float:
    """Return the mean share of a column that a row's label covers beyond one value; a suppressed row loses 1."""
    if column.numbers is not None and len(column.numbers) > 1:
        span = float(column.numbers[-1] - column.numbers[0]) or 1.0
        low, high = np.full(len(column.widths), np.inf), np.full(len(column.widths), -np.inf)
        np.minimum.at(low, column.labels, column.numbers[column.covered])
        np.maximum.at(high, column.labels, column.numbers[column.covered])
        shares: Floats = np.where(np.isfinite(low), high - low, 0.0) / span
    else:
        shares = (column.widths - 1) / max(len(column.values) - 1, 1)
    lost = float((column.label_rows * shares).sum()) + view.table.rows - view.rows
    return lost / max(view.table.rows, 1)


def _entropy(view: RecodedView, place: int) -> float:
    """Return the mean of log(n(label) / n(value with it)) over rows, as a share of the maximum."""
    column, pieces = view.columns[place], view.published
    codes = view.table.codes[:, place]
    labels = view.class_labels[pieces.classes, place].astype(np.int64)
    size = view.table.ladders[place].size
    found, _, rows = distinct_pairs(labels, codes[pieces.combinations], size, pieces.rows)
    kept = float((rows * np.log(column.label_rows[found] / rows)).sum())
    shares = column.before / view.table.rows
    most = -float((column.before * np.log(shares)).sum())
    gone = np.bincount(codes, weights=view.table.counts, minlength=size)
    gone -= np.bincount(codes[pieces.combinations], weights=pieces.rows, minlength=size)
    lost = -float((gone[column.values] * np.log(shares)).sum())
    return (kept + lost) / most if most > 0 else 0.0
