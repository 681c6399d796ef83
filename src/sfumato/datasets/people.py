"""Synthetic data sets of persons: households of a survey, a register that changes monthly, and hospital visits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.datasets.generated import Dataset, coded_dataset, quasi_identifier
from sfumato.engines.duckdb.writing import Cell, Chunk
from sfumato.errors import PlanError

CHUNK_PERSONS = 1 << 15
VISITS = 4
# The proportion of persons who move, marry or grow older between their visits.
CHANGING = 0.1
AGES: tuple[Cell, ...] = tuple(range(100))
REGIONS: tuple[Cell, ...] = tuple(f"{code:02d}" for code in range(1, 100))
MARITAL: tuple[Cell, ...] = ("single", "married", "divorced", "widowed")
WARDS: tuple[Cell, ...] = ("surgery", "medicine", "children", "eyes", "heart")
ILLNESSES: tuple[Cell, ...] = ("flu", "fracture", "asthma", "cataract", "angina", "gastritis", "diabetes", "migraine")
VISIT_PLANS: dict[str, dict[str, Any]] = {
    "person": {"role": "person"},
    "age": quasi_identifier("intervals", "integer", start=0, end=99, widths=[5, 10, 20]),
    "sex": quasi_identifier("any"),
    "region": quasi_identifier("digits", length=2),
    "marital": quasi_identifier("any"),
    "ward": quasi_identifier("any"),
    "illness": {"role": "sensitive"},
}
Codes = npt.NDArray[np.uint32]


def make_visits(rows: int, seed: int) -> Dataset:
    """Return a dataset of this many visits, four per person; the first rows do not depend on the number of rows.

    Raises:
        PlanError: If the number is 0, or the seed is negative.
    """
    if rows < 1 or seed < 0:
        raise PlanError("rows.visits_need_at_least")
    categories = {
        "person": range(1, -(-rows // (CHUNK_PERSONS * VISITS)) * CHUNK_PERSONS + 1),
        "age": AGES,
        "sex": ("female", "male"),
        "region": REGIONS,
        "marital": MARITAL,
        "ward": WARDS,
        "illness": ILLNESSES,
    }
    return Dataset("visits", rows, categories, partial(_visit_chunks, rows, seed), VISIT_PLANS)


def _visit_chunks(rows: int, seed: int) -> Iterator[Chunk]:
    size = CHUNK_PERSONS * VISITS
    for place, start in enumerate(range(0, rows, size)):
        visits = _visits(np.random.default_rng([seed, place]), place * CHUNK_PERSONS)
        yield {name: codes[: min(size, rows - start)] for name, codes in visits.items()}


def _visits(random: np.random.Generator, first: int) -> dict[str, Codes]:
    """Return the visits of a chunk of persons, in random order."""
    person = random.permutation(np.repeat(np.arange(CHUNK_PERSONS), VISITS))
    changes = (random.random(CHUNK_PERSONS) < CHANGING)[person]
    drawn: dict[str, Callable[[int], npt.NDArray[Any]]] = {
        "age": lambda size: np.minimum(random.gamma(6, 8, size), 99),
        "sex": lambda size: random.integers(0, 2, size),
        "region": lambda size: random.integers(0, len(REGIONS), size),
        "marital": lambda size: random.choice(len(MARITAL), size, p=(0.4, 0.4, 0.12, 0.08)),
        "ward": lambda size: random.integers(0, len(WARDS), size),
    }
    columns = {"person": (first + person).astype(np.uint32)}
    for name, draw in drawn.items():
        own = draw(CHUNK_PERSONS)[person]
        columns[name] = (own if name == "sex" else np.where(changes, draw(len(person)), own)).astype(np.uint32)
    columns["illness"] = random.integers(0, len(ILLNESSES), len(person)).astype(np.uint32)
    return columns


CHUNK_HOUSEHOLDS = 1 << 14
# Proportions of households with one person, two, and so on.
SIZES = (0.38, 0.33, 0.13, 0.1, 0.04, 0.02)
RELATIONS: tuple[Cell, ...] = ("head", "partner", "child", "other")
HEAD, PARTNER, CHILD, OTHER = range(4)
SINGLE, MARRIED = 0, 1
ADULT = 18
WEIGHTS: tuple[Cell, ...] = tuple(range(20, 400))
INCOMES: tuple[Cell, ...] = ("none", "below 1000", "1000 to 1999", "2000 to 2999", "3000 and more")
HOUSEHOLD_PLANS: dict[str, dict[str, Any]] = {
    "household": {"role": "household"},
    "weight": {"role": "weight"},
    "region": quasi_identifier("digits", length=2),
    "relation": quasi_identifier("any"),
    "age": quasi_identifier("intervals", "integer", start=0, end=99, widths=[5, 10, 20]),
    "sex": quasi_identifier("any"),
    "marital": quasi_identifier("any"),
    "income": {"role": "sensitive"},
}
Numbers = npt.NDArray[np.int64]


def make_households(rows: int, seed: int) -> Dataset:
    """Return a dataset of this many persons, by household; the first rows do not depend on the number of rows.

    Raises:
        PlanError: If the number is 0, or the seed is negative.
    """
    if rows < 1 or seed < 0:
        raise PlanError("rows.households_need_at_least")
    categories: dict[str, Any] = {
        "household": range(1, rows + CHUNK_HOUSEHOLDS + 1),
        "weight": WEIGHTS,
        "region": REGIONS,
        "relation": RELATIONS,
        "age": AGES,
        "sex": ("female", "male"),
        "marital": MARITAL,
        "income": INCOMES,
    }
    return Dataset("households", rows, categories, partial(_household_chunks, rows, seed), HOUSEHOLD_PLANS)


def _household_chunks(rows: int, seed: int) -> Iterator[Chunk]:
    place = 0
    while rows > 0:
        persons = _persons(np.random.default_rng([seed, place]), place * CHUNK_HOUSEHOLDS)
        yield {name: codes[:rows].astype(np.uint32) for name, codes in persons.items()}
        rows -= len(persons["household"])
        place += 1


def _persons(random: np.random.Generator, first: int) -> dict[str, Numbers]:
    """Return a chunk of complete households."""
    sizes = random.choice(np.arange(1, len(SIZES) + 1), CHUNK_HOUSEHOLDS, p=SIZES)
    home = np.repeat(np.arange(CHUNK_HOUSEHOLDS), sizes)
    turn = np.arange(len(home)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    couples = (random.random(CHUNK_HOUSEHOLDS) < 0.8)[home] & (sizes[home] > 1)
    others = random.random(len(home)) < 0.1
    later = np.where(others, OTHER, CHILD)
    relation = np.where(turn == 0, HEAD, np.where((turn == 1) & couples, PARTNER, later))
    heads = np.clip(random.gamma(9, 6, CHUNK_HOUSEHOLDS), ADULT, AGES[-1])[home]
    age = _ages(random, relation, heads)
    head_sex = random.integers(0, 2, CHUNK_HOUSEHOLDS)[home]
    partner_sex = np.where(random.random(len(home)) < 0.97, 1 - head_sex, head_sex)
    drawn_sex = random.integers(0, 2, len(home))
    sex = np.where(relation == HEAD, head_sex, np.where(relation == PARTNER, partner_sex, drawn_sex))
    return {
        "household": first + home,
        "weight": random.integers(0, len(WEIGHTS), CHUNK_HOUSEHOLDS)[home],
        "region": random.integers(0, len(REGIONS), CHUNK_HOUSEHOLDS)[home],
        "relation": relation,
        "age": age,
        "sex": sex,
        "marital": _marital(random, relation, couples, age, home),
        "income": np.where(age < ADULT, 0, random.choice(len(INCOMES), len(home), p=(0.1, 0.2, 0.35, 0.2, 0.15))),
    }


def _ages(random: np.random.Generator, relation: Numbers, heads: npt.NDArray[np.float64]) -> Numbers:
    """Return ages: partners are about as old as heads, children a generation younger."""
    partners = np.maximum(heads + random.normal(0, 4, len(heads)), ADULT)
    children = heads - random.integers(18, 40, len(heads))
    grown = random.integers(ADULT, 90, len(heads))
    ages = np.select([relation == HEAD, relation == PARTNER, relation == CHILD], [heads, partners, children], grown)
    whole: Numbers = np.clip(ages, 0, len(AGES) - 1).astype(np.int64)
    return whole


def _marital(random: np.random.Generator, relation: Numbers, couples: Any, age: Numbers, home: Numbers) -> Numbers:
    """Return marital status: most couples are married, and children are single."""
    married = (random.random(CHUNK_HOUSEHOLDS) < 0.8)[home] & couples & (relation <= PARTNER)
    alone = random.choice([SINGLE, 2, 3], len(home), p=(0.7, 0.18, 0.12))
    return np.where(married, MARRIED, np.where((age < ADULT) | (relation == CHILD), SINGLE, alone))


# Monthly probabilities that a person dies, moves or falls ill, and monthly births per person.
DEATHS, MOVES, BIRTHS, FALLS_ILL = 0.002, 0.004, 0.004, 0.02
REGISTER_REGIONS = tuple(f"{north}{east}" for north in range(1, 5) for east in range(1, 6))
REGISTER_ILLNESSES = ("none", "asthma", "diabetes", "hypertension", "migraine", "cancer")
FIRST_YEAR, LAST_YEAR = 1935, 2005
REGISTER_PLANS: dict[str, dict[str, Any]] = {
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
    return coded_dataset("register", {name: column.tolist() for name, column in people.items()}, REGISTER_PLANS)


def _drawn(random: np.random.Generator, rows: int, first: int, start: int, end: int) -> dict[str, Any]:
    return {
        "person": np.array([f"p{number:07d}" for number in range(first, first + rows)]),
        "sex": random.choice(["female", "male"], rows),
        "born": random.integers(start, end + 1, rows),
        "region": random.choice(REGISTER_REGIONS, rows),
        "illness": random.choice(REGISTER_ILLNESSES, rows, p=(0.5, 0.1, 0.1, 0.15, 0.1, 0.05)),
    }


def _month_later(random: np.random.Generator, people: dict[str, Any], month: int) -> dict[str, Any]:
    """Return the register a month later, after deaths, moves, illnesses and births."""
    number = len(people["person"])
    alive = random.random(number) >= DEATHS
    moved, ill = random.random(number) < MOVES, random.random(number) < FALLS_ILL
    later = dict(people)
    later["region"] = np.where(moved, random.choice(REGISTER_REGIONS, number), people["region"])
    later["illness"] = np.where(ill, random.choice(REGISTER_ILLNESSES, number), people["illness"])
    later = {name: column[alive] for name, column in later.items()}
    born = max(int(random.poisson(BIRTHS * number)), 1)
    year = 2006 + month // 12
    newcomers = _drawn(random, born, 1_000_000 * month, year - int(random.integers(0, 60)), year)
    return {name: np.concatenate([later[name], newcomers[name]]) for name in later}
