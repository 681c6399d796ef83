"""Randomization of numbers, dates and times: the noise of a value grows with the distance to its neighbors.

The result is value + N(0,1) · distance to the i-th nearest value, where i is the number of records per bucket. Results
outside the minimum and maximum of the column are mirrored back inside. Noise forms no equivalence classes, so a
randomized attribute is not part of the reported k. An extreme value remains extreme.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.attributes.operations.masking import Masking
from sfumato.attributes.operations.operation import OperationResult, Task, operation
from sfumato.attributes.operations.scales import SCALED, Numbers, lengths, read_scale, run_starts


@operation("randomization", *SCALED)
class Randomization:
    """Publishes each value with noise; a value that is alone in its column is masked, because noise cannot hide it."""

    range_suffix = ""
    graph_suffix = "_randomized"

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        column = read_scale(values, task, "randomization")
        if len(values) == 1:
            return Masking().apply(values, task)
        numbers = column.numbers
        per_bucket = max(1, len(values) // task.buckets)
        noise = task.random.standard_normal(len(values)) * neighbor_distances(numbers, per_bucket)
        inside = mirror(numbers + noise, float(numbers.min()), float(numbers.max()))
        codes = np.arange(len(values), dtype=np.int64)
        return OperationResult(column.write(inside), codes, min(task.buckets, len(values)), groups=False)


def neighbor_distances(numbers: Numbers, rank: int) -> Numbers:
    """Return for each number the distance to its `rank`-th nearest other number, in O(m log rank).

    If so many others are equal that the distance would be 0 (and the value published unchanged), the nearest different
    number counts.

    >>> neighbor_distances(np.array([1.0, 2.0, 4.0, 8.0]), 2).tolist()
    [3.0, 2.0, 3.0, 6.0]
    """
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    distances = np.empty_like(ascending)
    distances[order] = np.maximum(_sorted_distances(ascending, min(rank, len(numbers) - 1)), _next_distances(ascending))
    return distances


def _sorted_distances(ascending: Numbers, rank: int) -> Numbers:
    """Return the distances for sorted numbers: the nearest neighbors are a window of rank + 1 numbers.

    As the window moves right, the distance to its left end decreases, and the distance to its right end increases. The
    best start is where the two are equal; bisection finds it for all numbers at once.
    """
    size = len(ascending)
    places = np.arange(size)
    low, high = np.maximum(places - rank, 0), np.minimum(places, size - 1 - rank)
    leftmost = low.copy()
    while (low < high).any():
        middle = (low + high) // 2
        crossed = (low == high) | (ascending[middle + rank] - ascending >= ascending - ascending[middle])
        low, high = np.where(crossed, low, middle + 1), np.where(crossed, middle, high)
    before = np.maximum(low - 1, leftmost)
    return np.minimum(_reach(ascending, low, rank), _reach(ascending, before, rank))


def _reach(ascending: Numbers, start: Any, rank: int) -> Numbers:
    reach: Numbers = np.maximum(ascending - ascending[start], ascending[start + rank] - ascending)
    return reach


def _next_distances(ascending: Numbers) -> Numbers:
    """Return the distance to the nearest different number; 0 if all are equal."""
    starts = run_starts(ascending)
    if len(starts) == 1:
        return np.zeros_like(ascending)
    gaps = np.full(len(starts) + 1, np.inf)
    gaps[1:-1] = ascending[starts[1:]] - ascending[starts[:-1]]
    nearest: Numbers = np.minimum(gaps[:-1], gaps[1:])
    return np.repeat(nearest, lengths(starts, len(ascending)))


def mirror(numbers: Numbers, low: float, high: float) -> Numbers:
    """Mirror numbers back into the range, repeatedly if necessary.

    >>> mirror(np.array([-3.0, 5.0, 12.0, 25.0]), 0.0, 10.0).tolist()
    [3.0, 5.0, 8.0, 5.0]
    """
    width = high - low
    if not 0 < width < np.inf:
        return np.clip(numbers, low, high)
    folded = np.abs(np.mod(numbers - low + width, 2 * width) - width)
    return np.clip(low + folded, low, high)
