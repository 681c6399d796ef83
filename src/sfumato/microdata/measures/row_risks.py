"""Re-identification risk of each single row; for internal use only."""

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.missing_matches import matching_rows
from sfumato.microdata.measures.sample_risk import WeightedClasses
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques
from sfumato.microdata.models.class_weights import MILLIONTHS
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.models.individual_risk import expected_risks

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowRisks:
    """Metrics of each row, in the order of the rows; NaN for rows that were dropped.

    Attributes:
        alike: Rows with its values; persons: of the population that these represent.
        risk: The expectation of 1 / persons with its values; household_risk: that one of its household is found.
        matching, matching_persons, matching_risk: The same where a missing value matches anything.
        score, dis: Of its special uniques.
    """

    alike: Floats
    persons: Floats
    risk: Floats
    household_risk: Floats
    matching: Floats
    matching_persons: Floats
    matching_risk: Floats
    score: Floats
    dis: Floats

    def lines(self) -> Iterator[Sequence[str]]:
        """Yield the names of the metrics, then those of each row with its number first; empty for NaN."""
        yield ("row", *self.__slots__)
        columns = [getattr(self, name).tolist() for name in self.__slots__]
        for row, figures in enumerate(zip(*columns, strict=True), start=1):
            yield (str(row), *("" if isnan(figure) else f"{figure:.10g}" for figure in figures))


def row_risks(
    classes: WeightedClasses, special: SpecialUniques, places: Places, households: Sequence[str | None]
) -> RowRisks:
    """Return the metrics of rows.

    Args:
        classes: The combinations of the table; special: their special uniques.
        places: The combination of each row, -1 where it was dropped.
        households: Of each row; empty if unknown. None is a household of its own.
    """
    matching = matching_rows(classes.codes, classes.unknown, classes.rows)
    millionths = np.round(classes.persons * MILLIONTHS).astype(np.int64)
    persons = np.maximum(matching_rows(classes.codes, classes.unknown, millionths) / MILLIONTHS, matching)
    risks = classes.risks()

    def of_rows(figures: Floats) -> Floats:
        return np.where(places < 0, np.nan, np.append(figures, np.nan)[places])

    return RowRisks(
        of_rows(classes.rows.astype(float)),
        of_rows(classes.persons),
        of_rows(risks),
        household_risks(of_rows(risks), households),
        of_rows(matching.astype(float)),
        of_rows(persons),
        of_rows(expected_risks(matching, persons)),
        of_rows(special.scores),
        of_rows(special.row_dis),
    )


def household_risks(risks: Floats, households: Sequence[str | None]) -> Floats:
    """Return for each row the probability that one of its household is found, 1 - Π(1 - r); dropped rows do not count.

    >>> household_risks(np.array([0.5, 0.5, 0.1]), ["a", "a", None]).tolist()
    [0.75, 0.75, 0.1]
    """
    if not households:
        return np.full(len(risks), np.nan)
    numbers: dict[object, int] = {}
    keys = (row if name is None else name for row, name in enumerate(households))
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    with np.errstate(divide="ignore"):
        stays = np.log1p(-np.nan_to_num(risks))
    together = np.zeros(len(numbers))
    np.add.at(together, codes, stays)
    found: Floats = np.where(np.isnan(risks), np.nan, -np.expm1(together[codes]))
    return found
