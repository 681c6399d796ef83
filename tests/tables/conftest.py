"""Tables of several tests: the example of the specification, broken variants of it, and random hierarchies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan

KNOWN = [
    ("0", "0", "28"),
    ("1", "0", "9"),
    ("1", "1", "2"),
    ("1", "2", "7"),
    ("2", "0", "2"),
    ("2", "1", "2"),
    ("2", "2", "0"),
    ("3", "0", "17"),
    ("3", "1", "17"),
]
BROKEN = {
    "own protector": ("min", {"1": [3, 3], "2": [10]}),
    "all ones": ("max", {"1": [1, 1, 1], "2": [0]}),
    "range of hidden values": ("max", {"1": [1], "2": [3, 16]}),
}


def columns(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> TextColumns:
    return TextColumns({name: tuple(str(row[place]) for row in rows) for place, name in enumerate(names)})


def city(districts: dict[str, list[int]]) -> TextColumns:
    rows: list[tuple[Any, ...]] = [("0", "0", sum(sum(values) for values in districts.values()))]
    for district, values in districts.items():
        rows.append((district, "0", sum(values)))
        rows += [(district, str(place), value) for place, value in enumerate(values, 1)]
    return columns(rows, ("Kreis", "Quartier", "Wert"))


@pytest.fixture
def known() -> TextColumns:
    return columns(KNOWN, ("Kreis", "Quartier", "Wert"))


@pytest.fixture(params=list(BROKEN))
def broken(request: pytest.FixtureRequest) -> tuple[str, TextColumns]:
    prefer, districts = BROKEN[request.param]
    return prefer, city(districts)


@pytest.fixture
def make_city() -> Callable[[dict[str, list[int]]], TextColumns]:
    return city


@pytest.fixture
def make_plan() -> Callable[..., TablePlan]:
    def make(method: str | dict[str, Any] = "optimal", low: float = 1, high: float = 3, **more: Any) -> TablePlan:
        plan: dict[str, Any] = {
            "version": 1,
            "table": {"value": "Wert"},
            "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": 0}},
            "primary": [{"rule": "range", "min": low, "max": high}],
            "method": {"name": method} if isinstance(method, str) else method,
        }
        return read_table_plan(plan | more)

    return make


@pytest.fixture
def random_hierarchy() -> Callable[[int], tuple[TextColumns, tuple[str, ...]]]:
    """A hierarchy of two or three levels with small counts, by its seed."""

    def make(seed: int) -> tuple[TextColumns, tuple[str, ...]]:
        rng = np.random.default_rng(seed)
        depth, largest = 2 + seed % 2, int(rng.integers(3, 9))
        rows: list[tuple[Any, ...]] = []

        def grow(above: tuple[str, ...]) -> int:
            total = 0
            for place in range(1, int(rng.integers(1, 5)) + 1):
                here = (*above, str(place))
                if len(here) == depth:
                    value = int(rng.integers(0, largest + 1)) if rng.random() < 0.7 else int(rng.integers(0, 60))
                    rows.append((*here, value))
                else:
                    value = grow(here)
                total += value
            rows.append((*above, *["0"] * (depth - len(above)), total))
            return total

        grow(())
        levels = tuple(f"L{place}" for place in range(depth))
        return columns(rows, (*levels, "Wert")), levels

    return make
