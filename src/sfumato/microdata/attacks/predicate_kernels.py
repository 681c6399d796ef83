"""Compiled loops of predicates: how many rows fulfil each conjunction of conditions."""

import numpy as np

from sfumato.loops.arrays import Flags, Halves2, Ints
from sfumato.loops.compiled import compiled


@compiled
def count_rows(starts: Ints, columns: Ints, offsets: Ints, conditions: Flags, codes: Halves2, enough: int):
    """For each predicate, the rows that fulfil all its conditions; counting stops beyond `enough`.

    starts: (predicates + 1,) where the conditions of each begin; columns: (conditions,) the column of each; offsets:
    where the truth of each value of that column begins in `conditions`; codes: (columns, rows).
    """
    predicates, rows = len(starts) - 1, codes.shape[1]
    counts = np.zeros(predicates, np.int64)
    for predicate in range(predicates):
        count = 0
        for row in range(rows):
            holds = True
            for place in range(starts[predicate], starts[predicate + 1]):
                if not conditions[offsets[place] + codes[columns[place], row]]:
                    holds = False
                    break
            if holds:
                count += 1
                if count > enough:
                    break
        counts[predicate] = count
    return counts
