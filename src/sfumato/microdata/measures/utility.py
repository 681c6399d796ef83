"""Utility of a release, before and after, from the frequency table and the recoding alone.

No row is read, so the cost is about the same for a million rows as for a thousand; every part stops at a stated amount
of work. Classification needs a target column and scikit-learn, so a plan has to ask for it (`utility: {target:
income}`).
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.association import Associations, associations
from sfumato.microdata.measures.classification import Accuracy, accuracy
from sfumato.microdata.measures.distinct_share import values_left
from sfumato.microdata.measures.distribution_distance import DistributionShift, drift_of
from sfumato.microdata.measures.information_loss import InformationLoss, losses
from sfumato.microdata.measures.range_query_error import RangeCounts, range_counts
from sfumato.microdata.measures.recoded_view import view_of
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding


@dataclass(frozen=True, slots=True)
class Utility:
    """All utility measures of one release.

    Attributes:
        losses: Every loss, per column and in total.
        distributions: The change of each column's distribution.
        associations: The change of the association of each pair of columns.
        range_counts: The error of counts in random ranges.
        values_left: For each column, how many distinct values are still distinguished.
        classification: The accuracy of a classifier trained on the release, if the plan asks for it.
    """

    losses: tuple[InformationLoss, ...]
    distributions: tuple[DistributionShift, ...]
    associations: Associations
    range_counts: RangeCounts
    values_left: Mapping[str, Mapping[str, float]]
    classification: Accuracy | None = None

    def to_dict(self) -> Mapping[str, Any]:
        """Return the measures as plain values, as in report.json."""
        return {
            "losses": {lost.name: lost.to_dict() for lost in self.losses},
            "distributions": {drift.column: _without_name(drift) for drift in self.distributions},
            "association": {name: value for name, value in asdict(self.associations).items() if name != "pairs"},
            "association_pairs": [asdict(pair) for pair in self.associations.pairs],
            "range_counts": asdict(self.range_counts),
            "values_left": {name: dict(figures) for name, figures in self.values_left.items()},
        } | ({"classification": asdict(self.classification)} if self.classification else {})


def utility(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Utility:
    """Measure the utility of a release.

    The plan gives the types of the columns, the seed of the random range counts and of the rows held out for
    classification, and the column to predict, which must have been counted.
    """
    view, target = view_of(plan, table, recoding), plan.utility.target
    return Utility(
        losses(table, recoding, view),
        tuple(drift_of(column) for column in view.columns),
        associations(view),
        range_counts(view, plan.drawing_seed),
        values_left(view, recoding),
        accuracy(view, target, plan.drawing_seed) if target is not None else None,
    )


def _without_name(drift: DistributionShift) -> dict[str, float | None]:
    return {"total_variation": drift.total_variation, "earth_mover": drift.earth_mover}
