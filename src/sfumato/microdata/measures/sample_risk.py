"""Risk of a survey sample: risk of rows, households and the whole file, from weights and households.

The risk of a row is the expectation of 1 / persons of the population with its values (models/individual_risk.py). The
risk of a household is the probability that one of its members is found, 1 - Π(1 - r); each of its rows has it as
hierarchical risk. The global risk is the expected number of rows that are found, Σ r. Rows with missing values are also
counted among all rows that agree in the columns present in both: that increases rows and persons and lowers the risk.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.missing_matches import matching_rows
from sfumato.microdata.models.class_weights import MILLIONTHS
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.models.individual_risk import expected_risks
from sfumato.microdata.recoding.recoding import Recoding

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class GlobalFigures:
    """Joint risk of rows: the highest, the average, the expected number of rows found, and rows above a threshold.

    The average is the expected number as a share of the rows.
    """

    highest: float
    average: float
    expected: float
    rows_above: int


@dataclass(frozen=True, slots=True)
class SampleRisk:
    """The risk of a sample by its weights and households.

    Attributes:
        persons: The sum of the weights.
        rows: Risks of rows; households: the hierarchical risks of rows, if households are known.
        matching: Risks of rows if a missing value matches anything; None if none is missing.
    """

    persons: float
    threshold: float
    rows: GlobalFigures
    households: GlobalFigures | None = None
    matching: GlobalFigures | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class WeightedClasses:
    """Classes of a sample.

    Attributes:
        rows: Of each class; persons: the sum of its weights.
        codes: Its values or labels, (classes, columns); unknown: which of these are missing.
        owners: The class of each combination of the table, -1 where it is not published.
    """

    rows: Counts
    persons: Floats
    codes: Codes
    unknown: BoolArray
    owners: npt.NDArray[np.int64]

    def risks(self) -> Floats:
        """The risk of a row of each class, with a missing value as a value of its own."""
        return expected_risks(self.rows, self.persons)

    def matching_risks(self) -> Floats:
        """The same if a missing value matches anything."""
        rows = matching_rows(self.codes, self.unknown, self.rows)
        millionths = np.round(self.persons * MILLIONTHS).astype(np.int64)
        persons = matching_rows(self.codes, self.unknown, millionths) / MILLIONTHS
        return expected_risks(rows, np.maximum(persons, rows))


def raw_classes(table: FrequencyTable, sampling_fraction: float = 1.0) -> WeightedClasses:
    """The combinations of a table as classes."""
    absent = np.array([ladder.places.get(None, -1) for ladder in table.ladders], np.int32)
    unknown: BoolArray = table.codes == absent[None, :]
    persons = _persons(table, sampling_fraction)
    return WeightedClasses(table.counts, persons, table.codes, unknown, np.arange(len(table.counts)))


def published_classes(table: FrequencyTable, recoding: Recoding, missing: Sequence[str]) -> WeightedClasses | None:
    """Return the published classes; None if combinations are divided, because their weights cannot be divided."""
    if getattr(recoding, "division", None) is not None:
        return None
    kept = np.flatnonzero(~recoding.suppressed & (recoding.sizes > 0))
    places = np.full(len(recoding.sizes), -1, np.int64)
    places[kept] = np.arange(len(kept))
    sums = np.bincount(recoding.owners, weights=_persons(table), minlength=len(recoding.sizes))
    persons = sums[kept].astype(np.float64)
    codes = recoding.classes[kept]
    absent = [np.array([label is None or label in missing for label in labels], bool) for labels in recoding.labels]
    unknown = np.column_stack([mask[codes[:, place]] for place, mask in enumerate(absent)])
    return WeightedClasses(recoding.sizes[kept], persons, codes, unknown, places[recoding.owners])


def _persons(table: FrequencyTable, sampling_fraction: float = 1.0) -> Floats:
    weights = None if table.sample is None else table.sample.weights
    if weights is None:
        return table.counts / sampling_fraction
    persons: Floats = weights / MILLIONTHS
    return persons


def sample_risk(table: FrequencyTable, classes: WeightedClasses, threshold: float) -> SampleRisk:
    """Return all metrics of a sample's risk."""
    risks = classes.risks()
    households = None if table.sample is None else table.sample.households
    hierarchical = None
    if households is not None:
        of_combinations = np.where(classes.owners < 0, 0.0, np.append(risks, 0.0)[classes.owners])
        values, rows = households.risks(of_combinations)
        hierarchical = _figures(values, rows, threshold, int(classes.rows.sum()))
    matching = classes.matching_risks() if classes.unknown.any() else None
    return SampleRisk(
        float(classes.persons.sum()),
        threshold,
        _figures(risks, classes.rows, threshold),
        hierarchical,
        None if matching is None else _figures(matching, classes.rows, threshold),
    )


def _figures(risks: Floats, rows: Counts, threshold: float, all_rows: int | None = None) -> GlobalFigures:
    expected = float((risks * rows).sum())
    count = int(rows.sum()) if all_rows is None else all_rows
    above = int(rows[risks > threshold + 1e-12].sum())
    return GlobalFigures(float(risks.max(initial=0.0)), expected / max(count, 1), expected, above)
