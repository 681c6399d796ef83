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

from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.combinations import Packing, packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped, Node
from sfumato.microdata.losses.level_losses import LevelLoss
from sfumato.microdata.losses.loss import Charges, LossTerms, SweepResult, Window, summed_over_lattice
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.plan.methods import Aggregate


class ColumnLoss(Protocol):
    """The loss of the labels of one column, as shares of the maximum."""

    def kept(self, column: int, level: int) -> Floats:
        """Return for each label of a level the loss of a row published with it."""
        ...

    def suppressed(self, column: int, level: int) -> Floats:
        """Return for each label of a level the loss of a row with it that is suppressed."""
        ...


@dataclass(frozen=True)
class Marginal:
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
        """For each column and level, the mean loss of its rows when nothing is suppressed."""
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
