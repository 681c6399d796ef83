"""How many buckets the values of an attribute are put in, and which value goes to which bucket."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.attributes.operations.operation import Codes

Numbers = npt.NDArray[np.float64]
BucketRule = Literal["unique99", "sqrt"] | int
CONFIDENCE = 0.99


def unique99(records: int, attributes: int) -> int:
    """The number of buckets for which, with 99 % probability, no individual is unique.

    floor( 1 / (1 − (1 − 0.99^(1/k))^(1/k))^(1/n) ) for k records and n attributes, at least 1. Written with
    logarithms, since 0.99^(1/k) is close to 1 for many records.

    >>> [unique99(k, n) for k, n in [(20, 1), (16, 1), (10, 2), (1000, 3), (1000, 1)]]
    [3, 2, 1, 4, 87]
    """
    if records < 1 or attributes < 1:
        return 1
    alone = -math.expm1(math.log(CONFIDENCE) / records)
    same = -math.expm1(math.log(alone) / records)
    return max(1, math.floor(math.pow(same, -1 / attributes)))


def number_of_buckets(rule: BucketRule, values: int, attributes: int) -> int:
    """The number of buckets by a rule, at most one a value.

    >>> number_of_buckets("sqrt", 8, 3)
    2
    """
    if rule == "unique99":
        return unique99(values, attributes)
    if rule == "sqrt":
        return max(1, math.isqrt(values))
    return max(1, min(rule, values))


def assign(numbers: Numbers, buckets: int) -> tuple[Codes, Numbers, Numbers]:
    """For each number its bucket, and the bounds of the buckets.

    Position i of m in the sorted order goes to bucket g·i div m, and a value follows its first position, so that
    equal values are never told apart. Where that leaves a bucket with less than half of the members that g equally full
    ones would have, or with one alone, it is merged with its neighbor: an outlier gets no bucket of its own.

    >>> codes, low, high = assign(np.array([10.0, 12.0, 20.0, 30.0, 40.0, 100.0]), 2)
    >>> codes.tolist(), low.tolist(), high.tolist()
    ([0, 0, 0, 1, 1, 1], [10.0, 25.0], [25.0, 100.0])
    """
    values, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    share = len(numbers) // buckets
    of_value = _merged(buckets * first // len(numbers), counts, max(min(2, share), (share + 1) // 2))
    starts = np.flatnonzero(np.diff(of_value, prepend=-1))
    ends = np.append(starts[1:], len(values)) - 1
    between = values[ends[:-1]] / 2 + values[starts[1:]] / 2
    low, high = np.append(values[:1], between), np.append(between, values[-1:])
    return of_value[inverse.ravel()], low, high


def _merged(buckets: Codes, counts: Codes, least: int) -> Codes:
    """The buckets of ascending values, numbered anew after those with fewer than `least` members were merged."""
    starts = np.flatnonzero(np.diff(buckets, prepend=-1))
    sizes = np.add.reduceat(counts, starts)
    numbers = np.empty(len(starts), np.int64)
    number, members = 0, 0
    for place, size in enumerate(sizes.tolist()):
        numbers[place] = number
        members += size
        if members >= least:
            number, members = number + 1, 0
    if members and number:
        numbers[numbers == number] = number - 1
    return np.repeat(numbers, np.diff(np.append(starts, len(buckets))))
