"""Choose how many buckets the values of an attribute are put into, and assign values to buckets."""

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.attributes.operations.operation import Codes

Numbers = npt.NDArray[np.float64]
BucketRule = Literal["unique99", "sqrt"] | int
CONFIDENCE = 0.99
FIRST = np.zeros(1, np.int64)


def unique99(records: int, attributes: int) -> int:
    """Return the number of buckets for which, with 99 % probability, no individual is unique.

    floor( 1 / (1 − (1 − 0.99^(1/k))^(1/k))^(1/n) ) for k records and n attributes, at least 1. It is computed with
    logarithms, because 0.99^(1/k) is close to 1 for many records.

    >>> [unique99(k, n) for k, n in [(20, 1), (16, 1), (10, 2), (1000, 3), (1000, 1)]]
    [3, 2, 1, 4, 87]
    """
    if records < 1 or attributes < 1:
        return 1
    alone = -math.expm1(math.log(CONFIDENCE) / records)
    same = -math.expm1(math.log(alone) / records)
    return max(1, math.floor(math.pow(same, -1 / attributes)))


def number_of_buckets(rule: BucketRule, values: int, attributes: int) -> int:
    """Return the number of buckets by a rule, at most one per value.

    >>> number_of_buckets("sqrt", 8, 3)
    2
    """
    if rule == "unique99":
        return unique99(values, attributes)
    if rule == "sqrt":
        return max(1, math.isqrt(values))
    return max(1, min(rule, values))


def assign(numbers: Numbers, buckets: int) -> tuple[Codes, Numbers, Numbers]:
    """Return the bucket of each number, and the bounds of the buckets.

    Position i of m in the sorted order goes to bucket g·i div m, and a value goes to the bucket of its first position,
    so that equal values stay together. A bucket that is left with less than half of the members of g equally full
    buckets, or with a single one, is merged with its neighbor: an extreme value gets no bucket of its own.

    >>> codes, low, high = assign(np.array([10.0, 12.0, 20.0, 30.0, 40.0, 100.0]), 2)
    >>> codes.tolist(), low.tolist(), high.tolist()
    ([0, 0, 0, 1, 1, 1], [10.0, 25.0], [25.0, 100.0])
    """
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    first = run_starts(ascending)
    share = len(numbers) // buckets
    starts = _bucket_starts(first, buckets * first // len(numbers), len(numbers), max(min(2, share), (share + 1) // 2))
    between = ascending[starts[1:] - 1] / 2 + ascending[starts[1:]] / 2
    low, high = np.concatenate((ascending[:1], between)), np.concatenate((between, ascending[-1:]))
    codes = np.empty(len(numbers), np.int64)
    codes[order] = np.repeat(np.arange(len(starts)), lengths(starts, len(numbers)))
    return codes, low, high


def run_starts(ascending: npt.NDArray[Any]) -> Codes:
    """Return the start of each distinct value in a sorted array.

    >>> run_starts(np.array([1, 1, 2, 5, 5])).tolist()
    [0, 2, 3]
    """
    changes = np.flatnonzero(ascending[1:] != ascending[:-1])
    return np.concatenate((FIRST, changes + 1))


def lengths(starts: Codes, whole: int) -> Codes:
    """Return the length of each run, from its start."""
    return np.concatenate((starts[1:], [whole])) - starts


def _bucket_starts(first: Codes, buckets: Codes, whole: int, least: int) -> Codes:
    """Return the starts of buckets in the sorted order, after merging those with fewer than `least` members.

    Args:
        first: The start of each distinct value.
        buckets: The bucket of each of them, ascending.
        whole: The number of positions.
        least: The minimum number of members of a bucket.
    """
    begins = first[run_starts(buckets)].tolist()
    starts = [0]
    for begin in begins[1:]:
        if begin - starts[-1] >= least:
            starts.append(begin)
    if len(starts) > 1 and whole - starts[-1] < least:
        starts.pop()
    return np.array(starts)
