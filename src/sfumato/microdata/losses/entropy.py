"""Non-uniform entropy: how much information about the original value the published label loses, given frequencies.

A row whose original value occurs n(v) times and whose label occurs n(x) times loses log(n(x)/n(v)); a suppressed row
loses log(N/n(v)). A column's loss is the sum over its rows, divided by the loss with every row suppressed. De Waal, T.,
Willenborg, L. (1999). Information loss through global recoding and local suppression; Gionis, A., Tassa, T. (2009),
https://doi.org/10.1109/TKDE.2008.129.

Rare values count little: a release may lose all of them and still have a small loss.
"""

from functools import cached_property

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import Floats


@dataclass(frozen=True)
class NonUniformEntropy:
    """Mean of log(n(x)/n(v)) over the rows of a label, as a share of a column's maximum loss."""

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
        """For each label the mean over its rows of log(of_label / n(v)), normalized; a label without rows has 0."""
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
