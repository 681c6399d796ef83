"""Microaggregation: records in groups of at least k that are alike, each published with the means of its group.

Domingo-Ferrer, J., Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
https://doi.org/10.1007/s10618-005-0007-5 (MDAV). Hansen, S., Mukherjee, S. (2003). A polynomial algorithm for optimal
univariate microaggregation, https://doi.org/10.1109/TKDE.2003.1209020.

Columns are standardized. Groups of MDAV are improved by moving and exchanging records, and by exchanging pairs at a
loss and settling what is around them. One column alone is partitioned optimally. Many records are first cut into
blocks, at the middle of their main direction each time; each block is grouped by itself, so that the cost is nearly
linear.
"""

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.classes import Floats, Mask
from sfumato.microdata.perturbation import mdav_kernels

Places = npt.NDArray[np.int64]
# More records than this are cut into blocks of at most so many.
MOST_TOGETHER, BLOCK = 5_000, 1_000
# Groups that are looked at for a record, how often all records are, and kicks: more cost more than they
# gain. In blocks, of which there are many, few are enough.
NEAR, PASSES, KICKS = 16, 1_000, 800
BLOCK_NEAR, BLOCK_PASSES = 4, 1
# Numbers of so many decimals are added as whole numbers, as long as these are exact.
MOST_DECIMALS, EXACT_SUM = 6, 2.0**53


def groups_of(values: Floats, k: int, refine: bool = True, block: int | None = None) -> Places:
    """The group of each record, numbered from 0; fewer than 2k records are one group.

    Args:
        values: (records, columns).
        block: The most records of a block; without it, few records are grouped together.
    """
    points = standardized(values)
    if len(points) < 2 * k:
        return np.zeros(len(points), np.int64)
    if points.shape[1] == 1:
        return _univariate(points[:, 0], k)
    if block is None:
        block = len(points) if len(points) <= MOST_TOGETHER else BLOCK
    groups, number = np.full(len(points), -1, np.int64), 0
    for records in blocks_of(points, max(block, 3 * k)):
        number = _grouped(points, records, k, refine, len(records) < len(points), number, groups)
    return groups


def standardized(values: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1; a column with one value is 0 throughout."""
    spread = values.std(axis=0)
    points: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.ascontiguousarray(points)


def _grouped(points: Floats, records: Places, k: int, refine: bool, in_blocks: bool, first: int, groups: Places) -> int:
    """Group some records; the next number of a group."""
    own = np.ascontiguousarray(points[records])
    every, part = np.arange(len(own)), np.full(len(own), -1, np.int64)
    count = mdav_kernels.mdav(own, every, k, 0, part)
    if refine:
        near, passes, kicks = (BLOCK_NEAR, BLOCK_PASSES, 0) if in_blocks else (NEAR, PASSES, KICKS)
        mdav_kernels.refine(own, every, k, count, near, passes, kicks, part)
    groups[records] = first + part
    return first + int(count)


def blocks_of(points: Floats, most: int) -> list[Places]:
    """Records in blocks of at most so many, cut again and again at the middle of the direction in which they spread."""
    waiting, blocks = [np.arange(len(points))], []
    while waiting:
        records = waiting.pop()
        if len(records) <= most:
            blocks.append(records)
            continue
        own = points[records] - points[records].mean(axis=0)
        _, directions = np.linalg.eigh(own.T @ own)
        below = _lower_half(own @ directions[:, -1])
        waiting += [records[below], records[~below]]
    return blocks


def _lower_half(values: Floats) -> Mask:
    """Which half of some values are the lower ones; of equals at the middle the first."""
    middle = len(values) // 2
    limit = np.partition(values, middle)[middle]
    below: Mask = values < limit
    equals = np.flatnonzero(values == limit)
    below[equals[: middle - int(below.sum())]] = True
    return below


def _univariate(points: Floats, k: int) -> Places:
    """The optimal partition of one column."""
    order = np.argsort(points, kind="stable")
    ends = np.zeros(len(points) + 1, np.int64)
    mdav_kernels.univariate(points[order], k, ends)
    groups, end, number = np.empty(len(points), np.int64), len(points), 0
    while end > 0:
        groups[order[ends[end] : end]] = number
        end, number = int(ends[end]), number + 1
    return groups


def means_of(values: Floats, groups: Places) -> Floats:
    """The means of each record's group, the same to the last digit for all of a group."""
    sizes = np.bincount(groups)
    columns = [_means(values[:, column], groups, sizes) for column in range(values.shape[1])]
    means: Floats = np.column_stack(columns)[groups]
    return means


def _means(numbers: Floats, groups: Places, sizes: Places) -> Floats:
    """The mean of each group; where numbers have few decimals, the nearest to the exact one.

    Whole numbers are added without any error; so 0.1, 0.2 and 0.3 have the mean 0.2, and not 0.20000000000000004.
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
    """100 SSE / SST on standardized columns: what of the squared distances from the mean is lost within groups."""
    points = standardized(values)
    lost = float(((points - means_of(points, groups)) ** 2).sum())
    return 100 * lost / max(float((points**2).sum()), 1e-300)
