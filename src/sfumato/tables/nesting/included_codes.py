"""Codes of a column that are subsets of a code of another column, though their columns do not determine it.

A Kreis of towns alone is a subset of the towns, while others are mixed: no sum follows, but its cells are never larger
than those of the towns. A code of few records may be included by chance, which proves nothing.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.nesting.record_codes import Names, RecordCodes, names_in

# By so many bits it must be less likely that a code lies within another by chance: of combinations of codes there are
# many, and columns of the same people are never quite unrelated.
INCLUDED_BITS = 20.0
# Records that no further column divides may be there for one reason together, so that each proves less.
UNDIVIDED_BITS = 60.0


def included(fine: Places, coarse: Places, counts: Numbers, bits: float, news: Mask | None = None) -> bool:
    """Whether a code lies within one of another column that would by chance be less likely than so many bits.

    Args:
        fine: The number of the code in each row.
        coarse: That of the other column.
        counts: How many records a row has.
        bits: How unlikely it must be.
        news: The rows whose codes are looked at; all by default.

    >>> fine, coarse = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> included(fine, coarse, np.full(3, 50.0), 10.0), included(fine, coarse, np.full(3, 2.0), 10.0)
    (True, False)
    """
    whole = ~mixed(fine, coarse) if news is None else ~mixed(fine, coarse) & news
    sizes, shares = np.bincount(fine, counts), np.bincount(coarse, counts) / max(float(counts.sum()), 1.0)
    # The first record of a code says which one it may lie within; the others would have to follow by chance.
    told = (sizes[fine] - 1.0) * -np.log2(shares[coarse]) - np.log2(len(sizes))
    return bool((told[whole] >= bits).any())


def mixed(fine: Places, coarse: Places) -> Mask:
    """For each row whether its code lies in several codes of the other column.

    >>> mixed(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    [True, True, False]
    """
    other = np.zeros(int(fine.max(initial=0)) + 1, np.int64)
    other[fine] = coarse
    return np.asarray(np.bincount(fine, other[fine] != coarse) > 0)[fine]


def have_inclusions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Whether a code of some columns lies wholly within one of others, and would not by chance.

    >>> kreis, typ = ("1", "1", "2", "3"), ("x", "y", "y", "x")
    >>> have_inclusions(RecordCodes({"kreis": kreis, "typ": typ}, np.full(4, 30.0)), ("kreis",), ("typ",))
    True
    """
    first, second = records.numbers(one), records.numbers(two)
    return included(first, second, records.counts, INCLUDED_BITS) or included(
        second, first, records.counts, INCLUDED_BITS
    )


def have_crossed_inclusions(records: RecordCodes, one: Sequence[Names], two: Names) -> bool:
    """Whether a combination of codes lies wholly within a code of others, though fewer of its codes do not."""
    coarse = records.numbers(two)
    fewer = [names_in(own) for own in combinations(one, len(one) - 1)]
    news = np.logical_and.reduce([mixed(records.numbers(own), coarse) for own in fewer])
    fine = records.numbers(names_in(one))
    divided = mixed(fine, records.numbers(tuple(sorted(records.codes))))
    return included(fine, coarse, records.counts, INCLUDED_BITS, news & divided) or included(
        fine, coarse, records.counts, UNDIVIDED_BITS, news
    )
