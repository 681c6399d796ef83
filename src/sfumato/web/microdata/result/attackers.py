"""Expected success of three attacker models by class sizes, and the number of population uniques."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.measures.population import uniqueness
from sfumato.microdata.measures.risk import attacker
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.models.individual_risk import expected_risks

ESTIMATORS = ("dankar", "pitman", "zayatz", "snb")
Sizes = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of class sizes: number of classes and rows per size; sizes count persons if there are any."""

    classes: Sizes
    rows: Sizes

    @property
    def whole(self) -> int:
        """Return the sum of the sizes of all classes."""
        return sum(size * count for size, count in self.classes.items())


@dataclass(frozen=True, slots=True)
class AttackerSummary:
    """The success of an attacker: highest and mean risk of a row, and the expected number of rows found."""

    highest: float
    average: float
    expected: float


def distribution_of(risk: Mapping[str, Any]) -> Distribution:
    """Return the distribution of class sizes in a report; rows equal sizes unless the report has its own.

    >>> distribution_of({"sizes": {"5": 2}, "rows_of_sizes": {"5": 30}})
    Distribution(classes={5: 2}, rows={5: 30})
    """
    classes = {int(size): int(count) for size, count in (risk.get("sizes") or {}).items()}
    told = {int(size): int(rows) for size, rows in (risk.get("rows_of_sizes") or {}).items()}
    return Distribution(classes, told or {size: size * count for size, count in classes.items()})


def attacks(spread: Distribution, population: int | None) -> dict[str, AttackerSummary]:
    """Return the risk of the three attacker models by name; without a population, these rows count as the whole of it.

    >>> alike = distribution_of({"sizes": {"1": 1, "3": 1}})
    >>> found = attacks(alike, None)
    >>> found["prosecutor"] == found["journalist"] == AttackerSummary(1.0, 0.5, 2.0)
    True
    >>> attacks(alike, 400)["journalist"].highest < 0.1
    True
    """
    sizes, rows = (np.array([*part], np.int64) for part in (spread.rows, spread.rows.values()))
    known = _attack(rows, 1 / np.maximum(sizes, 1))
    if population is None or population <= spread.whole or not spread.whole:
        return {"prosecutor": known, "journalist": known, "marketer": known}
    persons: Floats = (sizes * (population / spread.whole)).astype(np.float64)
    guessed = _attack(rows, expected_risks(sizes, persons))
    return {"prosecutor": known, "journalist": guessed, "marketer": guessed}


def estimates(spread: Distribution, population: int) -> dict[str, float | None]:
    """Return the estimated number of population uniques, by estimator; None if undefined."""
    counts = _counts(spread.classes)
    found = uniqueness(counts, max(population, int(counts.sum())))
    return {name: getattr(found, name).uniques for name in ESTIMATORS}


def _counts(sizes: Sizes) -> Counts:
    return np.repeat(np.array([*sizes], np.int64), np.array([*sizes.values()], np.int64))


def _attack(rows: Counts, risks: Floats) -> AttackerSummary:
    figures = attacker(rows, risks, 1.0)
    return AttackerSummary(figures.highest, figures.average, figures.average * int(rows.sum()))
