"""Compiled loops of predicates: how many rows fulfil each conjunction of conditions.

They are compiled by numba when an attack is first run: they draw, or are no part of a release, so that installing does
not build them.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_rows(starts, columns, offsets, conditions, codes, enough):
    """For each predicate, the rows that fulfil all its conditions; counting stops beyond `enough`.

    starts: (predicates + 1,) where the conditions of each begin; columns: (conditions,) the column of each; offsets:
    where the truth of each value of that column begins in `conditions`; codes: (columns, rows).
    """
    predicates, rows = len(starts) - 1, codes.shape[1]
    counts = np.zeros(predicates, np.int64)
    for predicate in range(predicates):
        found = 0
        for row in range(rows):
            holds = True
            for place in range(starts[predicate], starts[predicate + 1]):
                if not conditions[offsets[place] + codes[columns[place], row]]:
                    holds = False
                    break
            if holds:
                found += 1
                if found > enough:
                    break
        counts[predicate] = found
    return counts
