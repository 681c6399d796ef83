"""Compiled loops of record linkage: the published record nearest to an original one, or with most agreement.

raw, published: (records, columns), standardized in the same way; record i is published as record i. own: (chosen,) the
probability that taking the best published record gives the own one; places: (chosen,) the best record, the first of
ties; others: the best record that is neither the own one nor equal to it, -1 if there is none. The latter simulates a
person who is not in the file and of whose group nobody is.
"""

import numpy as np

from sfumato.native.array_types import Float64, Float64_2, Int64
from sfumato.native.dispatch import compiled

# Distances and weights that differ by less are treated as equal.
CLOSE = 1e-12


@compiled
def same(records, one, other):
    """Whether two records are equal."""
    column = 0
    while column < records.shape[1] and records[one, column] == records[other, column]:
        column += 1
    return column == records.shape[1]


@compiled
def equal_records(records: Float64_2, chosen: Int64, equals: Int64):
    """How many records equal each chosen one, itself included."""
    for place in range(len(chosen)):
        count = 0
        for other in range(len(records)):
            count += same(records, chosen[place], other)
        equals[place] = count


@compiled
def link_nearest(raw: Float64_2, published: Float64_2, chosen: Int64, own: Float64, places: Int64, others: Int64):
    """Link each chosen record with the nearest published one."""
    for place in range(len(chosen)):
        one = chosen[place]
        least, ties, mine, best, second, without = np.inf, 0, np.inf, -1, np.inf, -1
        for other in range(len(published)):
            total = 0.0
            for column in range(raw.shape[1]):
                gap = raw[one, column] - published[other, column]
                total += gap * gap
                if total > second + CLOSE:  # whatever the other columns hold
                    break
            if other == one:
                mine = total
            if total < least - CLOSE:
                least, ties, best = total, 1, other
            elif total <= least + CLOSE:
                ties += 1
            if total < second - CLOSE and not same(published, one, other):
                second, without = total, other
        own[place] = 1.0 / ties if mine <= least + CLOSE else 0.0
        places[place], others[place] = best, without


@compiled
def agreement(raw: Float64_2, published: Float64_2, near: Float64, chosen: Int64, others: Int64, agree: Float64):
    """Count for each column the pairs of chosen records and others that agree, i.e. differ by at most `near`."""
    agree[:] = 0
    for place in range(len(chosen)):
        for column in range(raw.shape[1]):
            gap = abs(raw[chosen[place], column] - published[others[place], column])
            agree[column] += gap <= near[column]


@compiled
def link_heaviest(
    raw: Float64_2,
    published: Float64_2,
    near: Float64,
    weights: Float64_2,
    chosen: Int64,
    own: Float64,
    places: Int64,
    others: Int64,
):
    """Link each chosen record with the published one of the largest weight.

    weights: (columns, 3) of disagreement, of agreement, and the maximum that all later columns can add.
    """
    for place in range(len(chosen)):
        one = chosen[place]
        most, ties, mine, best, second, without = -np.inf, 0, -np.inf, -1, -np.inf, -1
        for other in range(len(published)):
            weight = 0.0
            for column in range(raw.shape[1]):
                agrees = abs(raw[one, column] - published[other, column]) <= near[column]
                weight += weights[column, 1] if agrees else weights[column, 0]
                if weight + weights[column, 2] < second - CLOSE:  # whatever the other columns hold
                    weight += weights[column, 2]
                    break
            if other == one:
                mine = weight
            if weight > most + CLOSE:
                most, ties, best = weight, 1, other
            elif weight >= most - CLOSE:
                ties += 1
            if weight > second + CLOSE and not same(published, one, other):
                second, without = weight, other
        own[place] = 1.0 / ties if mine >= most - CLOSE else 0.0
        places[place], others[place] = best, without
