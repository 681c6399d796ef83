"""Small random tables of several dimensions, with hierarchies, and all their roundings."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from sfumato.tables.cells.constraints import derive
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import LinearConstraints
from sfumato.tables.noise.rounding import inner_sums

SHAPES = {
    "flat": {("a",): ("T",), ("b",): ("T",)},
    "three": {("a",): ("T",), ("b",): ("T",), ("c",): ("T",)},
    "tree": {("A",): ("T",), ("B",): ("T",), ("a",): ("A",), ("b",): ("A",), ("c",): ("B",), ("d",): ("B",)},
}


def small_table(shapes: tuple[str, ...], seed: int, largest: int = 12) -> tuple[np.ndarray, LinearConstraints]:
    trees = [CodeTree(f"d{place}", ("T",), SHAPES[shape]) for place, shape in enumerate(shapes)]
    keys = list(product(*([tree.root, *tree.parents] for tree in trees)))
    relations = derive(trees, keys)
    sums = inner_sums(relations, len(keys))
    values = sums.matrix @ np.random.default_rng(seed).integers(0, largest, len(sums.inner)).astype(float)
    return values, relations


@pytest.fixture
def make_table() -> Callable[..., tuple[np.ndarray, LinearConstraints]]:
    return small_table


@pytest.fixture
def least_change() -> Callable[[np.ndarray, LinearConstraints, float, int], float | None]:
    """The minimum change over all roundings of a table, by brute force; None if there is none."""

    def search(values: np.ndarray, relations: LinearConstraints, base: float, steps: int) -> float | None:
        sums = inner_sums(relations, len(values))
        low = np.floor(values / base) - np.where((values >= 0), np.minimum(steps, np.floor(values / base)), steps)
        high = np.ceil(values / base) + steps
        choices = [np.arange(low[cell], high[cell] + 1) for cell in sums.inner]
        every = np.array(list(product(*choices)))
        tables = every @ sums.matrix.T.toarray()
        fits = ((tables >= low - 1e-9) & (tables <= high + 1e-9)).all(axis=1)
        return float(np.abs(tables[fits] * base - values).sum(axis=1).min()) if fits.any() else None

    return search
