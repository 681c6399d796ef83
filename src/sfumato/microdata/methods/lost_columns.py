"""Columns that lost much of their information in a release."""

from collections.abc import Iterator
from typing import Any

from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_assessment import HALF, shares_lost
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import Recoding, tells_something
from sfumato.values import Value


class HeavilyGeneralizedColumn(Value):
    """A heavily generalized quasi-identifier.

    Attributes:
        share_lost: The mean loss of published rows, 1 if no information is left (column_losses.py).
        labels: Number of informative published labels.
        values: Number of distinct values of the data, without missing values.
    """

    column: str
    share_lost: float
    labels: int
    values: int

    @property
    def share_of_values_left(self) -> float:
        """Share of distinct values left, at most 1 (labels of several levels overlap and may outnumber the values)."""
        return min(self.labels / max(self.values, 1), 1.0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "share_lost": self.share_lost,
            "labels": self.labels,
            "values": self.values,
            "share_of_values_left": self.share_of_values_left,
        }


def heavily_generalized_columns(
    plan: Plan, table: FrequencyTable, result: Result
) -> tuple[HeavilyGeneralizedColumn, ...]:
    """Return the columns that lost more than half, in the order of the table."""
    return tuple(_lost_columns(plan, table, result))


def _lost_columns(plan: Plan, table: FrequencyTable, result: Result) -> Iterator[HeavilyGeneralizedColumn]:
    for name, share in shares_lost(plan, table, result).items():
        place = table.columns.index(name)
        if share > HALF:
            yield HeavilyGeneralizedColumn(name, share, _labels(result.recoding, place), table.value_count(place))


def _labels(recoding: Recoding, place: int) -> int:
    """Return the number of informative labels of a column."""
    codes = present_codes(recoding.classes[~recoding.suppressed, place])
    return sum(tells_something(recoding.labels[place][code]) for code in codes)
