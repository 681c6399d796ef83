"""Generate hospital visits: several rows per person, with attributes that mostly stay the same between visits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.datasets.dataset import Dataset, quasi_identifier
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
PLANS: dict[str, dict[str, Any]] = {
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
    return Dataset("visits", rows, categories, partial(_chunks, rows, seed), PLANS)


def _chunks(rows: int, seed: int) -> Iterator[Chunk]:
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
