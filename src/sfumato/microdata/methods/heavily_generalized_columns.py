"""Columns that lost all or more than half of their information in a release, and changes that would preserve them."""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.column_losses import HALF, shares_lost
from sfumato.microdata.methods.recovery_options import RecoveryOption, RecoverySearch
from sfumato.microdata.methods.search import find_recoding, search_table
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import Recoding, tells_something


@dataclass(frozen=True, slots=True)
class HeavilyGeneralizedColumn:
    """A heavily generalized quasi-identifier.

    Attributes:
        share_lost: The mean loss of published rows: 1 if nothing is left (column_losses.py).
        labels: Informative published labels; values: distinct values of the data, without missing ones.
        remedy: A tested change that would preserve it, if there is one.
    """

    column: str
    share_lost: float
    labels: int
    values: int
    remedy: RecoveryOption = field(default_factory=RecoveryOption)

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
            "rows_to_suppress": self.remedy.rows,
            "column_to_remove": self.remedy.column,
            "method_to_use": self.remedy.method,
            "levels_to_allow": self.remedy.levels,
            "levels_tried": self.remedy.levels_tried,
            "remedies_cut_short": self.remedy.cut_short,
            "remedies_untried": self.remedy.untried,
        }


def heavily_generalized_columns(
    plan: Plan, table: FrequencyTable, result: Result
) -> tuple[HeavilyGeneralizedColumn, ...]:
    """Return the columns that lost more than half, in the order of the table, without remedies."""
    return tuple(_lost_columns(plan, table, result))


def _lost_columns(plan: Plan, table: FrequencyTable, result: Result) -> Iterator[HeavilyGeneralizedColumn]:
    for name, share in shares_lost(plan, table, result).items():
        place = table.columns.index(name)
        if share > HALF:
            yield HeavilyGeneralizedColumn(name, share, _labels(result.recoding, place), table.value_count(place))


def with_remedies(
    plan: Plan, table: FrequencyTable, result: Result, lost: Sequence[HeavilyGeneralizedColumn], seconds: float = 0.0
) -> tuple[HeavilyGeneralizedColumn, ...]:
    """Add the changes that would preserve lost columns, from separate searches with a time of their own.

    Args:
        seconds: Duration of the search. The most important columns come first, then those with the least loss.
    """
    plan, steering = search_table(plan, table)
    trials = RecoverySearch(plan, steering, result, find_recoding, seconds)
    order = sorted(lost, key=lambda column: (-plan.columns[column.column].weight, column.share_lost))
    remedies = {column.column: trials.remedy(column.column) for column in order}
    return tuple(replace(column, remedy=remedies[column.column]) for column in lost)


def _labels(recoding: Recoding, place: int) -> int:
    """Return the number of informative labels of a column."""
    codes = present_codes(recoding.classes[~recoding.suppressed, place])
    return sum(tells_something(recoding.labels[place][code]) for code in codes)
