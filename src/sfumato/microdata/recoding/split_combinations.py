"""Division of combinations whose rows belong to more than one class, regardless of their sensitive values."""

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.recoding.recoding import Division


def division_of(
    secret: str, table: FrequencyTable, combinations: Counts, classes: Counts, rows: Counts
) -> Division | None:
    """Return the division of rows; None if no combination is divided.

    Args:
        combinations, classes, rows: Parallel arrays: a combination, a class, and how many of its rows it has; sorted
            by both, no pair twice.
    """
    parted = (np.bincount(combinations, minlength=len(table.counts)) > 1)[combinations]
    if not parted.any():
        return None
    nothing = np.zeros(int(parted.sum()), np.int64)
    key = f"{secret}:division:"
    return Division(key, None, (None,), {}, combinations[parted], nothing, classes[parted], rows[parted])
