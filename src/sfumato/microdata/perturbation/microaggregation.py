"""Microaggregation: groups of at least k similar records, each published with the means of its group.

Domingo-Ferrer, J., Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
https://doi.org/10.1007/s10618-005-0007-5 (MDAV). Hansen, S., Mukherjee, S. (2003). A polynomial algorithm for optimal
univariate microaggregation, https://doi.org/10.1109/TKDE.2003.1209020.

Columns are standardized. Groups of MDAV are improved by moving and exchanging records, and by exchanging pairs at a
loss and re-optimizing their surroundings. A single column is partitioned optimally. Many records are recursively cut
into blocks at the median of their main direction, so that the cost is nearly linear; the worst groups of all blocks are
grouped again together, and groups improved across the borders of other blocks.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.perturbation import kernels as mdav_kernels

Places = npt.NDArray[np.int64]
# Number of groups examined per record, and passes over all records: for many records, few suffice.
NEAR_ACROSS, PASSES_ACROSS = 4, 1
# Share of groups that are regrouped, in blocks that are this many times larger.
WORST, LARGER = 0.1, 2.5
MIDDLE, ELSEWHERE = 0.5, 1 / 3


def groups_in_blocks(points: Floats, k: int, refine: bool, block: int) -> Places:
    """Return the group of each record, numbered from 0.

    Args:
        block: Maximum number of records of a block.
    """
    groups = _grouped(points, k, refine, block)
    groups = _with_worst_again(points, groups, k, refine, block)
    if refine:
        _improve_across(points, groups, k, block)
    return groups


def _grouped(points: Floats, k: int, refine: bool, block: int) -> Places:
    """Return groups within blocks."""
    groups, number = np.full(len(points), -1, np.int64), 0
    for records in blocks_of(points, block):
        own = np.ascontiguousarray(points[records])
        every, part = np.arange(len(own)), np.full(len(own), -1, np.int64)
        count = mdav_kernels.mdav(own, every, k, 0, part)
        if refine:
            mdav_kernels.refine(own, every, k, count, NEAR_ACROSS, PASSES_ACROSS, 0, part)
        groups[records] = number + part
        number += int(count)
    return groups


def _with_worst_again(points: Floats, groups: Places, k: int, refine: bool, block: int) -> Places:
    """Regroup the groups with the largest distances from their means together, if that is better."""
    apart = _apart(points, groups)
    worst = np.zeros(len(apart), bool)
    worst[np.argsort(-apart, kind="stable")[: max(int(WORST * len(apart)), 1)]] = True
    records = np.flatnonzero(worst[groups])
    own = np.ascontiguousarray(points[records])
    again = _grouped(own, k, refine, int(LARGER * block))
    if float(_apart(own, again).sum()) >= float(apart[worst].sum()):
        return groups
    groups = groups.copy()
    groups[records] = len(apart) + again
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _apart(points: Floats, groups: Places) -> Floats:
    """Return the sum of the squared distances of each group's records from its mean."""
    gaps = ((points - _plain_means(points, groups)[groups]) ** 2).sum(axis=1)
    apart: Floats = np.bincount(groups, weights=gaps).astype(np.float64)
    return apart


def _plain_means(points: Floats, groups: Places) -> Floats:
    sizes = np.bincount(groups)
    return np.column_stack([np.bincount(groups, weights=column) / sizes for column in points.T])


def _improve_across(points: Floats, groups: Places, k: int, block: int) -> None:
    """Exchange records between groups that are near each other, regardless of blocks."""
    sizes = np.bincount(groups)
    members, ends = np.argsort(groups, kind="stable"), np.cumsum(sizes)
    for near in blocks_of(_plain_means(points, groups), max(block // k, 2), ELSEWHERE):
        records = np.concatenate([members[ends[one] - sizes[one] : ends[one]] for one in near.tolist()])
        own, part = np.ascontiguousarray(points[records]), np.repeat(np.arange(len(near)), sizes[near])
        mdav_kernels.refine(own, np.arange(len(own)), k, len(near), NEAR_ACROSS, PASSES_ACROSS, 0, part)
        groups[records] = near[part]


def blocks_of(points: Floats, most: int, share: float = MIDDLE) -> Iterator[Places]:
    """Yield blocks of at most `most` records, cut recursively across their main direction.

    Args:
        share: The proportion of the records below a cut.
    """
    waiting = [np.arange(len(points))]
    while waiting:
        records = waiting.pop()
        if len(records) <= most:
            yield records
            continue
        own = points[records] - points[records].mean(axis=0)
        _, directions = np.linalg.eigh(own.T @ own)
        below = _lower_part(own @ directions[:, -1], share)
        waiting += [records[below], records[~below]]


def _lower_part(values: Floats, share: float) -> BoolArray:
    """Return which values are the lowest, a share of all; of ties at the limit the first ones."""
    place = max(int(len(values) * share), 1)
    limit = np.partition(values, place)[place]
    below: BoolArray = values < limit
    equals = np.flatnonzero(values == limit)
    below[equals[: place - int(below.sum())]] = True
    return below


# More records than this are cut into blocks of at most this size.
MOST_TOGETHER, BLOCK = 5_000, 1_000
# Number of groups examined per record, passes over all records, and exchanges at a loss: more cost more than they gain.
NEAR, PASSES, KICKS = 16, 1_000, 800
# The mean reveals the most distant value of a group if the others together are within this share of its distance.
REVEALED = 0.2
# Numbers of at most this many decimals are added as integers, if these are exact.
MOST_DECIMALS, EXACT_SUM = 6, 2.0**53


def groups_of(values: Floats, k: int, refine: bool = True, block: int | None = None) -> Places:
    """Return the group of each record, numbered from 0; fewer than 2k records form one group.

    Records are sorted first, so that groups and loss do not depend on their order.

    Args:
        values: (records, columns).
        block: Maximum number of records of a block; without it, few records are grouped together.
    """
    if len(values) < 2 * k:
        return np.zeros(len(values), np.int64)
    order = _sorted_places(values)
    groups = np.empty(len(values), np.int64)
    groups[order] = _groups(standardized(values[order]), k, refine, block)
    return groups


def _sorted_places(values: Floats) -> Places:
    """Return the order of records: by the first column, ties by the others."""
    order = np.argsort(values[:, 0], kind="stable")
    first = values[order, 0]
    same = first[1:] == first[:-1]
    ties = np.flatnonzero(np.append(False, same) | np.append(same, False))
    order[ties] = order[ties][np.lexsort(values[order[ties]].T[::-1])]
    return order


def _groups(points: Floats, k: int, refine: bool, block: int | None) -> Places:
    """Return the groups of sorted records."""
    if points.shape[1] == 1:
        return _univariate(points[:, 0], k)
    if block is None:
        block = len(points) if len(points) <= MOST_TOGETHER else BLOCK
    block = max(block, 3 * k)
    return _together(points, k, refine) if block >= len(points) else groups_in_blocks(points, k, refine, block)


def revealing_means(values: Floats, groups: Places) -> int:
    """Return the number of groups with a value that the group mean nearly discloses.

    An attacker assumes the nearest mean of another group for the other values of a group, and computes the last one.

    >>> revealing_means(np.array([1.0, 2, 3, 4, 5, 500]), np.array([0, 0, 0, 1, 1, 1]))
    1
    """
    sizes = np.bincount(groups)
    means = np.bincount(groups, weights=values) / np.maximum(sizes, 1)
    known = np.unique(means[sizes > 0])
    if len(known) < 2:
        return 0
    place = np.searchsorted(known, means)
    low, high = known[np.maximum(place - 1, 0)], known[np.minimum(place + 1, len(known) - 1)]
    nearest = np.where((place > 0) & ((means - low <= high - means) | (place == len(known) - 1)), low, high)
    distances = np.abs(values - nearest[groups])
    farthest = np.zeros(len(sizes))
    np.maximum.at(farthest, groups, distances)
    others = np.bincount(groups, weights=distances) - farthest
    return int(((others < REVEALED * farthest) & (sizes > 0)).sum())


def standardized(values: Floats) -> Floats:
    """Return columns with mean 0 and standard deviation 1; a column with one value becomes 0."""
    spread = values.std(axis=0)
    points: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.ascontiguousarray(points)


def _together(points: Floats, k: int, refine: bool) -> Places:
    """Return the groups of records without blocks."""
    every, groups = np.arange(len(points)), np.full(len(points), -1, np.int64)
    count = mdav_kernels.mdav(points, every, k, 0, groups)
    if refine:
        mdav_kernels.refine(points, every, k, count, NEAR, PASSES, KICKS, groups)
    return groups


def _univariate(points: Floats, k: int) -> Places:
    """Return the optimal partition of one column."""
    order = np.argsort(points, kind="stable")
    ends = np.zeros(len(points) + 1, np.int64)
    mdav_kernels.univariate(points[order], k, ends)
    groups, end, number = np.empty(len(points), np.int64), len(points), 0
    while end > 0:
        groups[order[ends[end] : end]] = number
        end, number = int(ends[end]), number + 1
    return groups


def means_of(values: Floats, groups: Places) -> Floats:
    """Return the means of each record's group, identical to the last digit within a group."""
    sizes = np.bincount(groups)
    # Added in the order of records, not of rows; otherwise the last digit would reveal which row came first.
    order = _sorted_places(values)
    columns = [_means(values[order, column], groups[order], sizes) for column in range(values.shape[1])]
    means: Floats = np.column_stack(columns)[groups]
    return means


def _means(numbers: Floats, groups: Places, sizes: Places) -> Floats:
    """Return the mean of each group; for numbers with few decimals, the nearest number to the exact mean.

    Integers are added without any error, so 0.1, 0.2 and 0.3 have the mean 0.2 and not 0.20000000000000004.
    """
    for power in (10.0**decimals for decimals in range(MOST_DECIMALS + 1)):
        whole = np.rint(numbers * power)
        if float(np.abs(whole).sum()) >= EXACT_SUM:
            break
        if (whole / power == numbers).all():
            exact: Floats = np.bincount(groups, weights=whole) / (sizes * power)
            return exact
    means: Floats = np.bincount(groups, weights=numbers) / sizes
    return means


def information_loss(values: Floats, groups: Places) -> float:
    """Return 100 SSE / SST on standardized columns: the share of the squared distances that is lost within groups."""
    points = standardized(values)
    lost = float(((points - means_of(points, groups)) ** 2).sum())
    return 100 * lost / max(float((points**2).sum()), 1e-300)
