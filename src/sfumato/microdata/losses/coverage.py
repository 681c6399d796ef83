"""Losses of class recodings by the covered share of each column: loss metric and normalized certainty penalty.

If each class has labels of its own, a column's loss is the mean over rows of the share that the row's class covers: for
numbers (max - min) / range, for categories (M - 1) / (|A| - 1) with M values covered of |A|; a suppressed row loses 1.
The normalized certainty penalty (Xu, J. et al. (2006). Utility-based anonymization using local recoding,
https://doi.org/10.1145/1150402.1150504) counts categories as M / |A|, and 0 for a single one.

Like the loss metric of nodes, neither measures relations between columns.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.plan.methods import Aggregate


def aggregated(losses: Sequence[float], weights: Sequence[float], how: Aggregate) -> float:
    """Aggregate the losses of columns.

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
