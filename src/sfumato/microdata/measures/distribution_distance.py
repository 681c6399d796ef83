"""Distance between the original distribution of a column and the one a data user would estimate from the release.

Total variation: half the sum of the differences of proportions. For numbers and dates also the earth mover's distance:
the mean distance by which values would have to be moved, as a share of the column's range (Rubner, Y. et al. (2000),
https://doi.org/10.1023/A:1026543900054). Suppressed rows, `*` and missing values are left out; proportions refer to the
other rows. If no row is left there is no distance (None).
"""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.measures.recoded_view import ColumnView


@dataclass(frozen=True, slots=True)
class DistributionShift:
    """The change of a column's distribution."""

    column: str
    total_variation: float | None
    earth_mover: float | None = None


def drift_of(column: ColumnView) -> DistributionShift:
    """Return the distances of one column."""
    before, after = column.before[column.present], column.after[column.present]
    if not after.sum():
        return DistributionShift(column.name, None)
    gaps = after / after.sum() - before / before.sum()
    variation = float(np.abs(gaps).sum()) / 2
    if column.numbers is None:
        return DistributionShift(column.name, variation)
    numbers = column.numbers[column.present]
    span = float(numbers[-1] - numbers[0])
    moved = float((np.abs(np.cumsum(gaps))[:-1] * np.diff(numbers)).sum())
    return DistributionShift(column.name, variation, moved / span if span else 0.0)
