"""Microaggregation of many records: in blocks, so that the cost is nearly linear, then improved across block borders.

Records are recursively cut into blocks at the median of their main direction, and each block is grouped separately. The
loss of this lies in few groups: extreme records, and leftovers of blocks whose nearest records are in other blocks. The
worst groups of all blocks are therefore grouped again together; then blocks are cut at other places, and groups
improved in these.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.perturbation import mdav_kernels

Places = npt.NDArray[np.int64]
# Number of groups examined per record, and passes over all records: for many records, few suffice.
NEAR, PASSES = 4, 1
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
    """Groups within blocks."""
    groups, number = np.full(len(points), -1, np.int64), 0
    for records in blocks_of(points, block):
        own = np.ascontiguousarray(points[records])
        every, part = np.arange(len(own)), np.full(len(own), -1, np.int64)
        count = mdav_kernels.mdav(own, every, k, 0, part)
        if refine:
            mdav_kernels.refine(own, every, k, count, NEAR, PASSES, 0, part)
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
    gaps = ((points - _means(points, groups)[groups]) ** 2).sum(axis=1)
    apart: Floats = np.bincount(groups, weights=gaps).astype(np.float64)
    return apart


def _means(points: Floats, groups: Places) -> Floats:
    sizes = np.bincount(groups)
    return np.column_stack([np.bincount(groups, weights=column) / sizes for column in points.T])


def _improve_across(points: Floats, groups: Places, k: int, block: int) -> None:
    """Exchange records between groups that are near each other, regardless of blocks."""
    sizes = np.bincount(groups)
    members, ends = np.argsort(groups, kind="stable"), np.cumsum(sizes)
    for near in blocks_of(_means(points, groups), max(block // k, 2), ELSEWHERE):
        records = np.concatenate([members[ends[one] - sizes[one] : ends[one]] for one in near.tolist()])
        own, part = np.ascontiguousarray(points[records]), np.repeat(np.arange(len(near)), sizes[near])
        mdav_kernels.refine(own, np.arange(len(own)), k, len(near), NEAR, PASSES, 0, part)
        groups[records] = near[part]


def blocks_of(points: Floats, most: int, share: float = MIDDLE) -> Iterator[Places]:
    """Yield blocks of at most `most` records, cut recursively across their main direction.

    Args:
        share: Of the records that lie below a cut.
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
