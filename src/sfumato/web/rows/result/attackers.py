"""What three attackers can expect of classes of known sizes, and how many persons are unique in a population."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.microdata.measures.population import uniqueness
from sfumato.microdata.measures.risk import Attacker, attacker
from sfumato.microdata.models.classes import Counts, Floats
from sfumato.microdata.models.individual_risk import expected_risks

ESTIMATORS = ("dankar", "pitman", "zayatz", "snb")
Sizes = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker can expect: the greatest and the mean chance of a row, and the rows he finds."""

    highest: float
    average: float
    expected: float


def sizes_of(risk: Mapping[str, Any]) -> dict[int, int]:
    """How many classes have each size, as a report tells it."""
    return {int(size): int(count) for size, count in (risk.get("sizes") or {}).items()}


def attacks(sizes: Sizes, population: int | None) -> dict[str, Attack]:
    """The three attackers by their names; without a population they face these rows as the whole of it.

    >>> found = attacks({1: 1, 3: 1}, None)
    >>> found["prosecutor"] == found["journalist"] == Attack(1.0, 0.5, 2.0)
    True
    >>> attacks({1: 1, 3: 1}, 400)["journalist"].highest < 0.1
    True
    """
    counts = _counts(sizes)
    rows = int(counts.sum())
    known = _attack(attacker(counts, 1 / np.maximum(counts, 1), 1.0), rows)
    if population is None or population <= rows or not rows:
        return {"prosecutor": known, "journalist": known, "marketer": known}
    persons: Floats = (counts * (population / rows)).astype(np.float64)
    guessed = _attack(attacker(counts, expected_risks(counts, persons), 1.0), rows)
    return {"prosecutor": known, "journalist": guessed, "marketer": guessed}


def estimates(sizes: Sizes, population: int) -> dict[str, float | None]:
    """Persons who are unique in the population, by estimator; None where one has no answer."""
    counts = _counts(sizes)
    found = uniqueness(counts, max(population, int(counts.sum())))
    return {name: getattr(found, name).uniques for name in ESTIMATORS}


def _counts(sizes: Sizes) -> Counts:
    return np.repeat(np.array([*sizes], np.int64), np.array([*sizes.values()], np.int64))


def _attack(figures: Attacker, rows: int) -> Attack:
    return Attack(figures.highest, figures.average, figures.average * rows)
