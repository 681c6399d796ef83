"""Round each cell independently, randomly without bias or to the nearest multiple; totals need not add up."""

import numpy as np

from sfumato.tables.cells.cells import Numbers
from sfumato.tables.rounding.multiples import between_multiples


def round_randomly(values: Numbers, bases: Numbers, chances: Numbers) -> Numbers:
    """Each value to the multiple above it with the probability that makes the expectation the value.

    Args:
        chances: A number from 0 to 1 for each cell, equal for equal sets of records.

    >>> round_randomly(np.array([7.0, 7.0, 5.0]), np.full(3, 5.0), np.array([0.39, 0.41, 0.0])).tolist()
    [10.0, 5.0, 5.0]
    """
    multiples = between_multiples(values, bases)
    return np.asarray((multiples.below + (chances < multiples.rest)) * bases)


def round_nearest(values: Numbers, bases: Numbers) -> Numbers:
    """Each value to the nearest multiple, halves up.

    >>> round_nearest(np.array([7.0, 8.0, 2.5]), np.full(3, 5.0)).tolist()
    [5.0, 10.0, 5.0]
    """
    multiples = between_multiples(values, bases)
    return np.asarray((multiples.below + (multiples.rest >= 0.5 - 1e-9)) * bases)
