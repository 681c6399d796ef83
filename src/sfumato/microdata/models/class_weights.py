"""Sampling weights of classes: the number of persons of the population that the rows of each class represent.

Weights have decimals, and classes are summed in integers; weights are therefore stored in millionths of a person.
"""

import numpy as np

from sfumato.microdata.models.equivalence_classes import Counts, EquivalenceClasses, Floats, Histogram

# Name under which classes hold the weights of their rows; no column can have it.
WEIGHTS = "\0weights"
MILLIONTHS = 1_000_000


def holding_weights(classes: EquivalenceClasses, weights: Counts) -> EquivalenceClasses:
    """Return classes with the sum of the weights of their rows, in millionths."""
    return EquivalenceClasses(
        classes.sizes, {**classes.sensitive, WEIGHTS: weight_content(weights)}, classes.counts_persons
    )


def weight_content(weights: Counts) -> Histogram:
    """Return weights, in millionths, as class contents."""
    count = len(weights)
    return Histogram(np.arange(count + 1, dtype=np.int64), np.zeros(count, np.int32), weights, 1, (None,))


def estimated_persons(classes: EquivalenceClasses, sampling_fraction: float | None = None) -> Floats:
    """Return the persons that each class represents: the sum of its weights, or its rows by the sampling fraction.

    >>> estimated_persons(EquivalenceClasses(np.array([2, 5])), 0.1).tolist()
    [20.0, 50.0]
    """
    content = classes.sensitive.get(WEIGHTS)
    if content is None:
        return classes.sizes / (sampling_fraction or 1.0)
    millionths = np.bincount(content.owners, weights=content.counts, minlength=len(classes.sizes))
    found: Floats = np.maximum(millionths / MILLIONTHS, classes.sizes)
    return found
