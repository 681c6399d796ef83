"""Compiled loops of record linkage: which published record is nearest to a raw one.

raw, published: (records, columns), standardized alike; a record's own published one has its place.
"""

# mypy: ignore-errors
# numba infers the types of compiled loops.

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest_own(raw, published, chosen, out):
    """For each chosen record, the probability that who takes the nearest published record takes its own."""
    for place in range(len(chosen)):
        one = chosen[place]
        least, ties, own = np.inf, 0, np.inf
        for other in range(len(published)):
            total = 0.0
            for column in range(raw.shape[1]):
                gap = raw[one, column] - published[other, column]
                total += gap * gap
            if other == one:
                own = total
            if total < least - 1e-12:
                least, ties = total, 1
            elif total <= least + 1e-12:
                ties += 1
        out[place] = 1.0 / ties if own <= least + 1e-12 else 0.0


@njit(cache=True, nogil=True)
def agreement(raw, published, near, chosen, others, agree):
    """For each column, how many pairs of chosen records and others agree: lie at most `near` apart."""
    agree[:] = 0
    for place in range(len(chosen)):
        for column in range(raw.shape[1]):
            gap = abs(raw[chosen[place], column] - published[others[place], column])
            agree[column] += gap <= near[column]


@njit(cache=True, nogil=True)
def heaviest_own(raw, published, near, hits, misses, chosen, out):
    """For each chosen record, the probability that who takes the record of greatest weight takes its own.

    hits, misses: (columns,) the weights of agreement and disagreement.
    """
    gains = hits - misses
    for place in range(len(chosen)):
        one = chosen[place]
        most, ties, own = -np.inf, 0, -np.inf
        for other in range(len(published)):
            weight = 0.0
            for column in range(raw.shape[1]):
                agrees = abs(raw[one, column] - published[other, column]) <= near[column]
                weight += misses[column] + agrees * gains[column]
            if other == one:
                own = weight
            if weight > most + 1e-12:
                most, ties = weight, 1
            elif weight >= most - 1e-12:
                ties += 1
        out[place] = 1.0 / ties if own >= most - 1e-12 else 0.0
