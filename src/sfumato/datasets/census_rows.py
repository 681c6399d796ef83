"""Generate any number of census-like persons column by column, in chunks that depend only on seed and position."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.datasets import census_distributions
from sfumato.datasets.census_hierarchies import (
    AGES,
    COLUMN_PLANS,
    COUNTRY_GROUPS,
    EDUCATION_GROUPS,
    MARITAL_GROUPS,
    OCCUPATION_GROUPS,
    RACES,
    SALARIES,
    SEXES,
    WORKCLASS_GROUPS,
    leaves,
)
from sfumato.datasets.dataset import Dataset
from sfumato.engines.duckdb.writing import Cell, Chunk
from sfumato.errors import PlanError

Codes = npt.NDArray[np.uint8]
Draws = npt.NDArray[np.uint16]

CHUNK_ROWS = 1 << 17
_STEPS = 1 << 16
_CATEGORIES: dict[str, tuple[Cell, ...]] = {
    "sex": SEXES,
    "age": AGES,
    "race": RACES,
    "marital-status": leaves(MARITAL_GROUPS),
    "education": leaves(EDUCATION_GROUPS),
    "native-country": leaves(COUNTRY_GROUPS),
    "workclass": leaves(WORKCLASS_GROUPS),
    "occupation": leaves(OCCUPATION_GROUPS),
    "salary-class": SALARIES,
}
# Indices of the two married states among the marital states.
_MARRIED = (1, 2)


def make_census(rows: int, seed: int) -> Dataset:
    """Return a dataset of this many persons.

    Raises:
        PlanError: If the number is 0, or the seed is negative.
    """
    if rows < 1 or seed < 0:
        raise PlanError("rows.census_needs_at_least")
    return Dataset("census", rows, _CATEGORIES, partial(_chunks, rows, seed), COLUMN_PLANS)


def _chunks(rows: int, seed: int) -> Iterator[Chunk]:
    for place, start in enumerate(range(0, rows, CHUNK_ROWS)):
        persons = _persons(np.random.default_rng([seed, place]))
        wanted = min(CHUNK_ROWS, rows - start)
        yield {name: codes[:wanted] for name, codes in persons.items()}


def _persons(random: np.random.Generator) -> dict[str, Codes]:
    """Return one chunk; always drawn completely, so that its first rows do not depend on how many are needed."""
    draws = np.frombuffer(random.bytes(2 * CHUNK_ROWS * len(_CATEGORIES)), "<u2").reshape(len(_CATEGORIES), -1)
    ages = _draw("age", draws[0])
    sexes = _draw("sex", draws[1])
    races = _draw("race", draws[2])
    group = _bands()[ages] * 2 + sexes
    educations = _draw("education", draws[3], group)
    marital = _draw("marital", draws[4], group)
    married = (marital == _MARRIED[0]) | (marital == _MARRIED[1])
    chance = _salary_steps()[(group.astype(np.intp) * census_distributions.EDUCATIONS + educations) * 2 + married]
    return {
        "sex": sexes,
        "age": ages,
        "race": races,
        "marital-status": marital,
        "education": educations,
        "native-country": _draw("country", draws[5], races),
        "workclass": _draw("workclass", draws[6], educations),
        "occupation": _draw("occupation", draws[7], educations * np.uint8(2) + sexes),
        "salary-class": (draws[8] < chance).astype(np.uint8),
    }


def _draw(table: str, draws: Draws, rows: Codes | None = None) -> Codes:
    """Return a value for each random number, by the row of proportions that the codes select (default: the first)."""
    places = draws if rows is None else rows.astype(np.intp) * _STEPS + draws
    values: Codes = _table(table)[places]
    return values


@cache
def _table(name: str) -> Codes:
    """Return the value for each of the 65,536 random numbers, for each row of proportions."""
    shares = _SHARES[name]()
    middles = (np.arange(_STEPS) + 0.5) / _STEPS
    rows = [np.searchsorted(np.cumsum(row) / row.sum(), middles) for row in shares]
    return np.concatenate(rows).astype(np.uint8)


@cache
def _bands() -> Codes:
    """Return the age band of each age."""
    return (np.searchsorted(census_distributions.BANDS, AGES, side="right") - 1).astype(np.uint8)


@cache
def _salary_steps() -> npt.NDArray[np.uint16]:
    return np.round(census_distributions.high_salary() * (_STEPS - 1)).astype(np.uint16)


_SHARES: dict[str, Any] = {
    "age": census_distributions.age,
    "sex": lambda: np.array([census_distributions.SEX]),
    "race": lambda: np.array([census_distributions.RACE]),
    "education": census_distributions.education,
    "marital": census_distributions.marital,
    "country": census_distributions.country,
    "workclass": census_distributions.workclass,
    "occupation": census_distributions.occupation,
}
