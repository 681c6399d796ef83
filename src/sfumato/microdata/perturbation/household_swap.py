"""Targeted record swapping: households exchange their region with similar households, those most at risk first.

Used by the statistical offices of the United Kingdom and for the European census (Spicer, K., Tudor, C., Cornish, G.
2013. Intruder testing). A household is at risk if some member is one of fewer than k rows of its region with the same
quasi-identifiers. All columns of a group of regions move together, so that districts stay in their states; everything
else of a household stays, and so do all tables without region. The number of households of each size stays the same in
every region.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.count_differences import numbers_of
from sfumato.microdata.models.equivalence_classes import BoolArray
from sfumato.microdata.perturbation.keyed_random import uniforms

Codes = npt.NDArray[np.int64]


def risky_rows(regions: Codes, keys: Codes, k: int) -> BoolArray:
    """Return the rows whose keys occur in fewer than k rows of the same region."""
    columns = np.column_stack([regions, keys])
    owners, _ = numbers_of(columns, [int(column.max(initial=0)) + 1 for column in columns.T])
    risky: BoolArray = np.bincount(owners)[owners] < k
    return risky


def partners_of(households: Codes, regions: Codes, similar: Codes, risky: BoolArray, share: float, key: str) -> Codes:
    """Return for each row the row whose region it gets, or itself.

    Args:
        households: Of each row, numbered from 0; regions: its region; similar: (rows, columns) in which both agree.
        risky: Rows that put their household at risk; share: minimum share of households that are swapped.
    """
    count = int(households.max(initial=-1)) + 1
    first, sizes, at_risk = _of_households(households, risky, count)
    order = np.lexsort((uniforms(key, count), ~at_risk))
    wanted = max(int(at_risk.sum()), int(np.ceil(share * count)))
    region = regions[first]
    alike, _ = _profiles(households, similar, sizes, count)
    free = np.ones(count, bool)
    swapped = np.arange(count)
    waiting: dict[int, list[int]] = {}
    for household in order[::-1].tolist():
        waiting.setdefault(int(alike[household]), []).append(household)
    done = 0
    for household in order.tolist():
        if done >= wanted:
            break
        if not free[household]:
            continue
        other = _partner(waiting[int(alike[household])], household, region, free)
        if other is not None:
            free[[household, other]] = False
            swapped[household], swapped[other] = other, household
            done += 2
    others = swapped[households]
    return np.where(others == households, np.arange(len(households)), first[others])


def _of_households(households: Codes, risky: BoolArray, count: int) -> tuple[Codes, Codes, BoolArray]:
    """Return the first row of each household, its number of rows, and whether one of them is risky."""
    first = np.zeros(count, np.int64)
    first[households[::-1]] = np.arange(len(households) - 1, -1, -1)
    at_risk = np.bincount(households, weights=risky, minlength=count) > 0
    return first, np.bincount(households, minlength=count), at_risk


def _profiles(households: Codes, similar: Codes, sizes: Codes, count: int) -> tuple[Codes, int]:
    """Number households by profile: equal size, and equal values in the similar columns, member by member."""
    if not similar.shape[1]:
        return sizes, 0
    values, _ = numbers_of(similar, [int(column.max(initial=0)) + 1 for column in similar.T])
    order = np.lexsort((values, households))
    profiles: dict[Sequence[int], int] = {}
    alike = np.zeros(count, np.int64)
    ends = np.cumsum(sizes)
    for household in range(count):
        members = tuple(values[order[ends[household] - sizes[household] : ends[household]]].tolist())
        alike[household] = profiles.setdefault(members, len(profiles))
    return alike, len(profiles)


def _partner(waiting: list[int], household: int, region: Codes, free: BoolArray) -> int | None:
    """Return a free household of the same profile in another region, preferably a risky one."""
    while waiting and not free[waiting[-1]]:
        waiting.pop()
    for place in range(len(waiting) - 1, -1, -1):
        other = waiting[place]
        if free[other] and other != household and region[other] != region[household]:
            return other
    return None
