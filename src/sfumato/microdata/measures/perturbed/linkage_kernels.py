"""Compiled loops of record linkage: which published record is nearest to a raw one.

raw, published: (records, columns), standardized alike; a record's own published one has its place.
"""

import numpy as np

from sfumato.loops.arrays import Flags, Ints, Reals, Reals2
from sfumato.loops.compiled import compiled


@compiled
def nearest_own(raw: Reals2, published: Reals2, chosen: Ints, out: Reals):
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


@compiled
def agreement(raw: Reals2, published: Reals2, near: Reals, chosen: Ints, others: Ints, agree: Reals):
    """For each column, how many pairs of chosen records and others agree: lie at most `near` apart."""
    agree[:] = 0
    for place in range(len(chosen)):
        for column in range(raw.shape[1]):
            gap = abs(raw[chosen[place], column] - published[others[place], column])
            agree[column] += gap <= near[column]


@compiled
def heaviest_own(raw: Reals2, published: Reals2, near: Reals, hits: Reals, misses: Reals, chosen: Ints, out: Reals):
    """For each chosen record, the probability that who takes the record of greatest weight takes its own.

    hits, misses: (columns,) the weights of agreement and disagreement.
    """
    for place in range(len(chosen)):
        one = chosen[place]
        most, ties, own = -np.inf, 0, -np.inf
        for other in range(len(published)):
            weight = 0.0
            for column in range(raw.shape[1]):
                agrees = abs(raw[one, column] - published[other, column]) <= near[column]
                weight += misses[column] + agrees * (hits[column] - misses[column])
            if other == one:
                own = weight
            if weight > most + 1e-12:
                most, ties = weight, 1
            elif weight >= most - 1e-12:
                ties += 1
        out[place] = 1.0 / ties if own >= most - 1e-12 else 0.0


@compiled
def same(published, one, other):
    """Whether two published records are equal."""
    equal = 0
    for column in range(published.shape[1]):
        equal += published[one, column] == published[other, column]
    return equal == published.shape[1]


@compiled
def nearest_published(raw: Reals2, published: Reals2, chosen: Ints, left_out: Flags, out: Ints):
    """For each chosen record the place of the nearest published one, the first of equals; -1 where there is none.

    left_out: (chosen,) whether the record is taken as one that is not in the file: then neither its own published
    record nor one that equals it counts, as those of its group do.
    """
    for place in range(len(chosen)):
        one, least, best = chosen[place], np.inf, -1
        for other in range(len(published)):
            total = 0.0
            for column in range(raw.shape[1]):
                gap = raw[one, column] - published[other, column]
                total += gap * gap
            if total < least and not (left_out[place] and same(published, one, other)):
                least, best = total, other
        out[place] = best
