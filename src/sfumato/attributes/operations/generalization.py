"""Generalization of numbers, dates and times: a value is published as the range of its bucket.

Buckets have equal frequency, so an outlier shares its bucket with others. Not protected: the minimum and maximum of the
column, which are the outer bounds, and a person whose bucket has only one sensitive value (see `kpis` for the achieved
k).
"""

from collections.abc import Sequence
from typing import Any

from sfumato.attributes.operations.buckets import assign
from sfumato.attributes.operations.masking import Masking
from sfumato.attributes.operations.numeric_scales import read_scale
from sfumato.attributes.operations.operation import OperationResult, Task, operation
from sfumato.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A published range.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        first: Whether there is no bucket below.
        last: Whether there is no bucket above.
    """

    low: float | str
    high: float | str
    first: bool
    last: bool

    def as_range(self) -> dict[str, float | str]:
        """Return the range as its bounds."""
        return {"min": self.low, "max": self.high}

    def as_label(self) -> str:
        """Return the range as a label, open at the ends of the column.

        >>> Interval(10000.0, 25000.0, first=True, last=False).as_label()
        '<= 25000.0'
        """
        if self.first == self.last:
            return f"{self.low} - {self.high}"
        return f"<= {self.high}" if self.first else f">= {self.low}"


class Generalization:
    """Publishes the range of a value's bucket; a value that is alone in its column is masked."""

    range_suffix = "_range"
    graph_suffix = "_generalized"

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        column = read_scale(values, task, "generalization")
        if len(values) == 1:
            return Masking().apply(values, task)  # the range would be the value itself
        codes, low, high = assign(column.numbers, min(task.buckets, len(values)))
        last = len(low) - 1
        bounds = zip(column.write_bounds(low), column.write_bounds(high), strict=True)
        entries = [Interval(*pair, first=place == 0, last=place == last) for place, pair in enumerate(bounds)]
        return OperationResult(entries, codes, len(entries))


@operation("generalization", "numeric", "integer")
class NumericGeneralization(Generalization):
    """Generalizes numbers to ranges."""


@operation("generalization", "date", "datetime")
class DateGeneralization(Generalization):
    """Generalizes dates and times to ranges."""

    range_suffix = "_date_range"
