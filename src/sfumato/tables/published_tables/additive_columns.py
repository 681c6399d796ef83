"""Value columns of a published table that add up with each other, such as women, men and total."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.crosstabs.subtotals import APPROXIMATE_PROOF, bits_of, find_sums

# Columns of numbers that are compared; of more, the first.
MOST_COLUMNS = 30


def derivable_columns(exact: Numbers, beside: Sequence[Numbers]) -> set[int]:
    """The places of columns from which masked values follow: by a sum or a difference of two, or a sum of many.

    Args:
        exact: The values; not a number where masked.
        beside: The numbers of other columns; not a number where there is none.

    >>> women = np.array([np.nan, 24.0, 31.0, 52.0])
    >>> men, all_ = np.array([15.0, 21.0, 34.0, 40.0]), np.array([18.0, 45.0, 65.0, 92.0])
    >>> derivable_columns(women, [men, all_, np.array([1.0, 2.0, 3.0, 4.0])]) == {0, 1}
    True
    """
    used = [place for place, numbers in enumerate(beside[:MOST_COLUMNS]) if not np.isnan(numbers).all()]
    chosen = (*_pairs(exact, beside, used), *_sums(exact, beside, used))
    return {place for places in chosen for place in places if _shown(exact, [beside[at] for at in places])}


def _pairs(exact: Numbers, beside: Sequence[Numbers], used: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Pairs of columns of which the values are the sum or the difference."""
    tried = 3 * len(used) ** 2 / 2
    for one, other in combinations(used, 2):
        first, second = beside[one], beside[other]
        both = ~np.isnan(exact) & ~np.isnan(first) & ~np.isnan(second)
        # A column of nothing but 0 leaves another as it is, which is looked for elsewhere.
        if not (first[both] != 0).any() or not (second[both] != 0).any():
            continue
        for told in (first + second, first - second, second - first):
            if _agrees(exact[both], told[both], tried):
                yield one, other


def _agrees(values: Numbers, told: Numbers, tried: float) -> bool:
    """Whether two columns are equal, and hardly by chance."""
    if len(values) < 2 or not np.allclose(values, told, rtol=1e-9, atol=1e-9):
        return False
    return bool(bits_of(np.abs(values) / precision_of(values)).sum() > APPROXIMATE_PROOF + np.log2(tried))


def _sums(exact: Numbers, beside: Sequence[Numbers], used: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Columns that are, with the values, one the sum of all the others in it."""
    lines = np.array([exact, *(beside[place] for place in used)])
    shown = lines[:, ~np.isnan(lines).any(axis=0)]
    if len(used) < 2 or not shown.size:
        return
    shown = np.round(shown / precision_of(shown.ravel()))
    for one in find_sums(shown, np.zeros(len(lines), bool), scattered=len(used) <= MOST_COLUMNS // 2).sums:
        places = [one.total, *one.parts]
        if 0 in places and _agrees(shown[one.total], shown[list(one.parts)].sum(axis=0), len(used) ** 2):
            yield tuple(used[place - 1] for place in places if place)


def _shown(exact: Numbers, beside: Sequence[Numbers]) -> bool:
    """Whether all of some columns are shown where a value is masked."""
    together: BoolArray = np.isnan(exact) & ~np.isnan(np.array(beside)).any(axis=0)
    return bool(together.any())
