"""Codes of columns that lie wholly within a code of another column, though their columns do not determine it.

A Kreis of towns alone lies within the towns, while others are mixed: no sum says so, but its cells are never more than
those of the towns. A code of few records lies within another by chance, which proves nothing.
"""

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Places


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
