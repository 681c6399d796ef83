"""Generate the households of a survey: persons who live together, in one region and with one sampling weight."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.datasets.dataset import Dataset, quasi_identifier
from sfumato.datasets.visit_rows import AGES, MARITAL, REGIONS
from sfumato.engines.duckdb.writing import Cell, Chunk
from sfumato.errors import PlanError

CHUNK_HOUSEHOLDS = 1 << 14
# Proportions of households with one person, two, and so on.
SIZES = (0.38, 0.33, 0.13, 0.1, 0.04, 0.02)
RELATIONS: tuple[Cell, ...] = ("head", "partner", "child", "other")
HEAD, PARTNER, CHILD, OTHER = range(4)
SINGLE, MARRIED = 0, 1
ADULT = 18
WEIGHTS: tuple[Cell, ...] = tuple(range(20, 400))
INCOMES: tuple[Cell, ...] = ("none", "below 1000", "1000 to 1999", "2000 to 2999", "3000 and more")
PLANS: dict[str, dict[str, Any]] = {
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
    return Dataset("households", rows, categories, partial(_chunks, rows, seed), PLANS)


def _chunks(rows: int, seed: int) -> Iterator[Chunk]:
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
