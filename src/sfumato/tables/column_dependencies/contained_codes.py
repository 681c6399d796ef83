"""Codes of a column that are subsets of a code of another column, though their columns do not determine it.

A Kreis of towns alone is a subset of the towns, while others are mixed: no sum follows, but its cells are never larger
than those of the towns. A code of few records may be included by chance, which proves nothing.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.column_dependencies.record_codes import Names, RecordCodes, names_in

# Bits of evidence needed that a code is contained in another beyond chance: there are many combinations of codes, and
# columns about the same people are never independent.
INCLUDED_BITS = 20.0
# Records that no further column distinguishes may have one common cause, so each proves less.
UNDIVIDED_BITS = 60.0


def included(fine: Places, coarse: Places, counts: Numbers, bits: float, news: BoolArray | None = None) -> bool:
    """Return whether a code is contained in one of another column, with at least the given bits of evidence.

    Args:
        fine: The number of the code in each row.
        coarse: That of the other column.
        counts: The number of records of each row.
        bits: The evidence needed.
        news: The rows whose codes are tested; all by default.

    >>> fine, coarse = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> included(fine, coarse, np.full(3, 50.0), 10.0), included(fine, coarse, np.full(3, 2.0), 10.0)
    (True, False)
    """
    whole = ~mixed(fine, coarse) if news is None else ~mixed(fine, coarse) & news
    sizes, shares = np.bincount(fine, counts), np.bincount(coarse, counts) / max(float(counts.sum()), 1.0)
    # The first record of a code determines its container; the others provide the evidence.
    told = (sizes[fine] - 1.0) * -np.log2(shares[coarse]) - np.log2(len(sizes))
    return bool((told[whole] >= bits).any())


def mixed(fine: Places, coarse: Places) -> BoolArray:
    """Return for each row whether its code occurs with several codes of the other column.

    >>> mixed(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    [True, True, False]
    """
    other = np.zeros(int(fine.max(initial=0)) + 1, np.int64)
    other[fine] = coarse
    return np.asarray(np.bincount(fine, other[fine] != coarse) > 0)[fine]


def have_inclusions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Return whether a code of one dimension is contained in one of the other, beyond chance.

    >>> kreis, typ = ("1", "1", "2", "3"), ("x", "y", "y", "x")
    >>> have_inclusions(RecordCodes({"kreis": kreis, "typ": typ}, np.full(4, 30.0)), ("kreis",), ("typ",))
    True
    """
    first, second = records.numbers(one), records.numbers(two)
    return included(first, second, records.counts, INCLUDED_BITS) or included(
        second, first, records.counts, INCLUDED_BITS
    )


def have_crossed_inclusions(records: RecordCodes, one: Sequence[Names], two: Names) -> bool:
    """Return whether a combination of codes is contained in a code of others, although fewer of its codes are not."""
    coarse = records.numbers(two)
    fewer = [names_in(own) for own in combinations(one, len(one) - 1)]
    news = np.logical_and.reduce([mixed(records.numbers(own), coarse) for own in fewer])
    fine = records.numbers(names_in(one))
    divided = mixed(fine, records.numbers(tuple(sorted(records.codes))))
    return included(fine, coarse, records.counts, INCLUDED_BITS, news & divided) or included(
        fine, coarse, records.counts, UNDIVIDED_BITS, news
    )
