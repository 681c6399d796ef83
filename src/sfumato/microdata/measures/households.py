"""Households in the classes of a release: models count rows or persons, so a class may hold fewer households."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.survey_sample import Households
from sfumato.microdata.recoding.recoding import Recoding


@dataclass(frozen=True, slots=True)
class HouseholdFigures:
    """Numbers of households in the classes of a release.

    Attributes:
        k: The minimum class size; fewest: the smallest number of households in a class.
        classes: Classes of fewer than k households; rows: their rows; all_classes: of the release.
    """

    k: int
    fewest: int
    classes: int
    rows: int
    all_classes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def household_figures(table: FrequencyTable, recoding: Recoding, k: int) -> HouseholdFigures | None:
    """Return the metrics; None without a household column, or if a combination is divided between classes."""
    households = None if table.sample is None else table.sample.households
    if not isinstance(households, Households) or getattr(recoding, "division", None) is not None:
        return None
    kept = ~recoding.suppressed
    counts = _counts(households, recoding)[kept]
    few = counts < k
    return HouseholdFigures(
        k, int(counts.min(initial=table.rows)), int(few.sum()), int(recoding.sizes[kept][few].sum()), int(kept.sum())
    )


def _counts(households: Households, recoding: Recoding) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return the number of households in each class; a row without a household counts as one."""
    owners = recoding.owners[households.combinations].astype(np.int64)
    named = households.numbers >= 0
    size = int(households.numbers.max(initial=0)) + 1
    pairs = np.unique(owners[named] * size + households.numbers[named])
    counts = np.bincount(pairs // size, minlength=len(recoding.sizes)).astype(np.int64)
    np.add.at(counts, owners[~named], households.rows[~named])
    return counts
