"""Generate a register of persons that changes from month to month by births, moves and deaths."""

from typing import Any

import numpy as np

from sfumato.datasets.dataset import Dataset, coded_dataset, quasi_identifier
from sfumato.errors import PlanError

# Monthly probabilities of events, and births per person.
DEATHS, MOVES, BIRTHS, FALLS_ILL = 0.002, 0.004, 0.004, 0.02
REGIONS = tuple(f"{north}{east}" for north in range(1, 5) for east in range(1, 6))
ILLNESSES = ("none", "asthma", "diabetes", "hypertension", "migraine", "cancer")
FIRST_YEAR, LAST_YEAR = 1935, 2005
PLANS: dict[str, dict[str, Any]] = {
    "person": {"role": "person"},
    "sex": quasi_identifier("any"),
    "born": quasi_identifier("intervals", "integer", start=1920, end=2039, widths=[10, 20, 40]),
    "region": quasi_identifier("digits", length=2),
    "illness": {"role": "sensitive"},
}


def make_register(rows: int, seed: int, month: int = 0) -> Dataset:
    """Return the register after a number of months.

    Raises:
        PlanError: If there are no persons, or a number is negative.
    """
    if rows < 1 or seed < 0 or month < 0:
        raise PlanError("rows.register_needs_at_least")
    random = np.random.default_rng([seed, 7])
    people = _drawn(random, rows, 0, FIRST_YEAR, LAST_YEAR)
    for passed in range(1, month + 1):
        people = _month_later(np.random.default_rng([seed, 7, passed]), people, passed)
    return coded_dataset("register", {name: column.tolist() for name, column in people.items()}, PLANS)


def _drawn(random: np.random.Generator, rows: int, first: int, start: int, end: int) -> dict[str, Any]:
    return {
        "person": np.array([f"p{number:07d}" for number in range(first, first + rows)]),
        "sex": random.choice(["female", "male"], rows),
        "born": random.integers(start, end + 1, rows),
        "region": random.choice(REGIONS, rows),
        "illness": random.choice(ILLNESSES, rows, p=(0.5, 0.1, 0.1, 0.15, 0.1, 0.05)),
    }


def _month_later(random: np.random.Generator, people: dict[str, Any], month: int) -> dict[str, Any]:
    """Return the register a month later, after deaths, moves, illnesses and births."""
    number = len(people["person"])
    alive = random.random(number) >= DEATHS
    moved, ill = random.random(number) < MOVES, random.random(number) < FALLS_ILL
    later = dict(people)
    later["region"] = np.where(moved, random.choice(REGIONS, number), people["region"])
    later["illness"] = np.where(ill, random.choice(ILLNESSES, number), people["illness"])
    later = {name: column[alive] for name, column in later.items()}
    born = max(int(random.poisson(BIRTHS * number)), 1)
    year = 2006 + month // 12
    newcomers = _drawn(random, born, 1_000_000 * month, year - int(random.integers(0, 60)), year)
    return {name: np.concatenate([later[name], newcomers[name]]) for name in later}
