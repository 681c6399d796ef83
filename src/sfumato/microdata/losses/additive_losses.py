"""Losses that are sums over columns and can be computed for every node from marginal counts alone.

A loss of this family defines, for a column, a level and a label, what a row with that label loses, and what it loses
when suppressed. Each loss module defines these two; this module sums, weights and aggregates them:

- `sum`: the weighted sum over columns; `mean`: divided by the sum of the weights;
- `geometric`: the geometric mean of 1 + loss, minus 1, so that a loss of zero in one column does not hide the others
  (the convention of Prasser et al., https://doi.org/10.1002/spe.2812).

Why pruning stays exact for `geometric`: in logarithms it is a sum over columns of log(1 + g + s), and log(1 + g + s) -
log(1 + g) decreases when g increases and increases with s; so the suppression part again never increases towards
coarser nodes.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.combinations import Packing, packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped, Node
from sfumato.microdata.losses.loss import Charges, LossTerms, SweepResult, Window, summed_over_lattice
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.plan.methods import Aggregate
from sfumato.values import Value


class LevelLoss(Value):
    """The same loss for every label of a level.

    - `score`: level / number of levels, summed over columns; suppressed rows are not counted.
    - `height`: the sum of the levels; suppressed rows are not counted. Samarati, P. (2001),
      https://doi.org/10.1109/69.971193.
    - `precision` (as a loss: 1 - Prec): level / highest level; a suppressed row loses 1. Sweeney, L. (2002),
      https://doi.org/10.1142/S021848850200165X.

    They ignore how many values a level merges: in a hierarchy of two levels, one step costs as much as the whole
    column.
    """

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
    """Return the level itself."""
    return LevelLoss(ladders, lambda level, _: float(level))


def precision(ladders: tuple[Hierarchy, ...]) -> LevelLoss:
    """Level / highest level; a suppressed row loses 1."""
    return LevelLoss(ladders, lambda level, height: level / max(height - 1, 1), charges_suppression=True)


class ColumnLoss(Protocol):
    """The loss of the labels of one column, as shares of the maximum."""

    def kept(self, column: int, level: int) -> Floats:
        """Return for each label of a level the loss of a row published with it."""
        ...

    def suppressed(self, column: int, level: int) -> Floats:
        """Return for each label of a level the loss of a row with it that is suppressed."""
        ...


class Marginal(Value, dict=True):
    """A sum over columns, prepared for one table."""

    table: FrequencyTable
    losses: ColumnLoss
    weights: tuple[float, ...]
    aggregate: Aggregate = "sum"
    suppression_falls: ClassVar[bool] = True

    @property
    def suppression_is_free(self) -> bool:
        """Whether suppressing a row adds no loss."""
        return isinstance(self.losses, LevelLoss) and not self.losses.charges_suppression

    @cached_property
    def packing(self) -> Packing:
        return packing_of([ladder.size for ladder in self.table.ladders])

    @cached_property
    def generalization(self) -> tuple[Floats, ...]:
        """For each column and level, the mean loss of its rows without suppression."""
        return tuple(self._levels(column) for column in range(len(self.table.columns)))

    def _levels(self, column: int) -> Floats:
        rows, many, kept = self.table.marginal(column), max(self.table.rows, 1), self.losses.kept
        codes = self.table.ladders[column].codes
        return np.array(
            [float(np.add.reduce(kept(column, level)[codes[level]] * rows)) / many for level in range(len(codes))]
        )

    @cached_property
    def shares(self) -> Floats:
        """Each column's weight, as a share of all where the aggregate is a mean."""
        weights = np.array(self.weights)
        return weights if self.aggregate == "sum" else weights / max(weights.sum(), 1e-300)

    def _spaced(self, losses: Floats) -> Floats:
        return np.log1p(losses) if self.aggregate == "geometric" else losses

    def value(self, total: float) -> float:
        return float(np.expm1(total)) if self.aggregate == "geometric" else total

    def floors(self, window: Window) -> Floats:
        columns = [share * self._spaced(means) for share, means in zip(self.shares, self.generalization, strict=True)]
        return summed_over_lattice(columns, window)

    def ranks(self, window: Window) -> Floats:
        return self.floors(window)

    def _at(self, node: Node) -> Floats:
        return np.array([means[level] for means, level in zip(self.generalization, node, strict=True)])

    def _added(self, grouped: Grouped, failing: BoolArray) -> Floats:
        """What suppression adds to each column's loss."""
        charges, packing = self._charges, self.packing
        total = kernels.surcharges(
            grouped.keys,
            grouped.sizes,
            failing,
            packing.word,
            packing.shift,
            packing.mask,
            np.array(grouped.node),
            charges.values,
            charges.offsets,
            charges.constant,
        )
        added: Floats = np.maximum(total, 0.0) / max(self.table.rows, 1)
        return added

    def charges(self) -> Charges:
        return self._charges

    @cached_property
    def _charges(self) -> Charges:
        ladders = self.table.ladders
        shape = (len(ladders), max(ladder.height for ladder in ladders))
        offsets, constant = np.zeros(shape, np.int64), np.full(shape, np.nan)
        parts, end = list[Floats](), 0
        for column, ladder in enumerate(ladders):
            for level in range(ladder.height):
                charge = self.losses.suppressed(column, level) - self.losses.kept(column, level)
                offsets[column, level] = end
                if len(charge) and (charge == charge[0]).all():
                    constant[column, level] = charge[0]
                parts.append(charge)
                end += len(charge)
        return Charges(np.concatenate(parts), offsets, constant)

    def terms(self, grouped: Grouped, failing: BoolArray, suppressed_rows: int) -> LossTerms:
        adds = suppressed_rows and not self.suppression_is_free
        return self._terms(grouped.node, self._added(grouped, failing) if adds else None)

    def swept_terms(self, swept: SweepResult) -> tuple[Floats, Floats]:
        kept = np.column_stack([means[swept.levels[:, column]] for column, means in enumerate(self.generalization)])
        plain = self._spaced(kept) @ self.shares
        added = np.maximum(swept.charges, 0.0) / max(self.table.rows, 1)
        return plain, self._spaced(kept + added) @ self.shares - plain

    def _terms(self, node: Node, added: Floats | None) -> LossTerms:
        kept = self._at(node)
        plain = float(self.shares @ self._spaced(kept))
        if added is None:
            return LossTerms(plain, 0.0)
        return LossTerms(plain, float(self.shares @ self._spaced(kept + added)) - plain)

    def per_column(self, grouped: Grouped, failing: BoolArray) -> dict[str, float]:
        losses = self._at(grouped.node) + self._added(grouped, failing)
        return {name: float(loss) for name, loss in zip(self.table.columns, losses, strict=True)}


def aggregated(losses: Sequence[float], weights: Sequence[float], how: Aggregate) -> float:
    """Aggregate the losses of columns.

    If each class has separate labels, a column's loss is the mean over rows of the share that the row's class covers:
    for numbers (max - min) / range, for categories (M - 1) / (|A| - 1) with M values covered of |A|; a suppressed row
    loses 1. The normalized certainty penalty (Xu, J. et al. (2006). Utility-based anonymization using local recoding,
    https://doi.org/10.1145/1150402.1150504) counts categories as M / |A|, and 0 for a single one.

    Like the loss metric of nodes, neither measures relations between columns.

    >>> aggregated([0.5, 0.0], [1.0, 1.0], "sum"), aggregated([0.5, 0.0], [1.0, 1.0], "mean")
    (0.5, 0.25)
    """
    shares = np.array(weights, np.float64)
    if how != "sum":
        shares = shares / max(float(shares.sum()), 1e-300)
    if how == "geometric":
        return float(np.expm1(shares @ np.log1p(np.array(losses))))
    return float(shares @ np.array(losses))


def mean_loss(widths: Floats, sizes: Counts) -> float:
    """Return the mean over rows of the share of a column that the classes cover."""
    return float((widths * sizes).sum() / max(int(sizes.sum()), 1))


def certainty_penalties(widths: Floats, values: int) -> Floats:
    """Return the normalized certainty penalty of classes that cover (M - 1) / (|A| - 1) of a column's |A| values.

    >>> certainty_penalties(np.array([0.0, 1.0 / 3.0]), 4).tolist()
    [0.0, 0.5]
    """
    return np.where(widths > 0, (widths * (values - 1) + 1) / max(values, 1), 0.0)


class NonUniformEntropy(Value, dict=True):
    """Mean of log(n(x)/n(v)) over the rows of a label, as a share of a column's maximum loss.

    A row whose original value occurs n(v) times and whose label occurs n(x) times loses log(n(x)/n(v)); a suppressed
    row loses log(N/n(v)). A column's loss is the sum over its rows, divided by the loss with every row suppressed. De
    Waal, T., Willenborg, L. (1999). Information loss through global recoding and local suppression; Gionis, A., Tassa,
    T. (2009), https://doi.org/10.1109/TKDE.2008.129.

    Rare values count little: a release may lose all of them and still have a small loss.
    """

    table: FrequencyTable

    @cached_property
    def _most(self) -> tuple[float, ...]:
        return tuple(self._sum(column, self._whole(column)) for column in range(len(self.table.columns)))

    def _whole(self, column: int) -> Floats:
        return np.full(self.table.ladders[column].size, float(self.table.rows))

    def _sum(self, column: int, of_value: Floats) -> float:
        """Sum over rows of log(of_value / n(v)), where of_value is given for each value."""
        raw = self.table.marginal(column)
        present = raw > 0
        return float((raw[present] * np.log(of_value[present] / raw[present])).sum())

    @cached_property
    def _raw(self) -> tuple[Floats, ...]:
        """Rows of each column's values; 1 for values without rows, whose logarithm is not used."""
        rows = (self.table.marginal(column) for column in range(len(self.table.columns)))
        return tuple(np.maximum(marginal, 1).astype(np.float64) for marginal in rows)

    def _label_rows(self, column: int, level: int) -> Floats:
        ladder = self.table.ladders[column]
        rows = np.bincount(
            ladder.codes[level], weights=self.table.marginal(column), minlength=len(ladder.labels[level])
        )
        return rows.astype(np.float64)

    def _means(self, column: int, level: int, rows: Floats, of_label: Floats) -> Floats:
        """Return each label's mean over its rows of log(of_label / n(v)), normalized; a label without rows has 0."""
        codes = self.table.ladders[column].codes[level]
        logs = self.table.marginal(column) * np.log(np.maximum(of_label, 1.0)[codes] / self._raw[column])
        sums = np.bincount(codes, weights=logs, minlength=len(of_label))
        scale = self._most[column] / max(self.table.rows, 1)
        return sums / np.maximum(rows, 1.0) / scale if scale > 0 else np.zeros(len(of_label))

    def kept(self, column: int, level: int) -> Floats:
        rows = self._label_rows(column, level)
        return self._means(column, level, rows, rows)

    def suppressed(self, column: int, level: int) -> Floats:
        rows = self._label_rows(column, level)
        return self._means(column, level, rows, np.full(len(rows), float(self.table.rows)))


class LossMetric(Value):
    """(M-1)/(|A|-1) for each label.

    A value generalized to x loses (M-1)/(|A|-1), with M the number of domain values that x covers and |A| the size of
    the column's domain (that of its hierarchy). A column's loss is the mean over rows; a suppressed row loses 1.
    Iyengar, V. (2002). Transforming data to satisfy privacy constraints, https://doi.org/10.1145/775047.775089. ARX
    normalizes the covered share M/|A| to 0..1 in the same way.

    It does not measure relations between columns: two slightly generalized columns may have lost their association.
    """

    ladders: tuple[Hierarchy, ...]

    def kept(self, column: int, level: int) -> Floats:
        return self.ladders[column].penalties[level]

    def suppressed(self, column: int, level: int) -> Floats:
        return np.ones(len(self.ladders[column].labels[level]))
