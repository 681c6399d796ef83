"""Small random tables with ladders, and their classes row by row: what tests by brute force go through."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.models.equivalence_classes import histogram
from sfumato.values import replace

VALUES = ("1", "2", "3", "4", None)


@st.composite
def ladders(draw: st.DrawFn):
    size = draw(st.integers(2, 4))
    groups = list(range(size))
    levels = []
    for depth in range(draw(st.integers(0, 2))):
        merged = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        groups = [min(merged[group], group) for group in groups]
        levels.append([f"L{depth}-{group}" for group in groups])
    return make_hierarchy([f"v{place}" for place in range(size)], levels)


def tabulated(chosen, codes, sensitive) -> FrequencyTable:
    """A frequency table of rows with a sensitive value each."""
    domain = tuple(sorted(set(sensitive), key=lambda value: (value is None, value or "")))
    values = np.array([domain.index(value) for value in sensitive], np.int32)
    unique, owners, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    held = histogram(owners.reshape(-1), values, np.ones(len(codes), np.int64), len(unique), len(domain))
    codings = tuple(Coding(ladder.values, np.arange(ladder.size, dtype=np.int32), ladder) for ladder in chosen)
    names = tuple(f"c{place}" for place in range(len(chosen)))
    held = {"s": replace(held, texts=domain)}
    return FrequencyTable(names, codings, unique.astype(np.int32), counts.astype(np.int64), held, {"s": domain})


@st.composite
def rows_of(draw: st.DrawFn):
    """Ladders, and rows of codes with a sensitive value each."""
    chosen = draw(st.lists(ladders(), min_size=1, max_size=3))
    count = draw(st.integers(1, 24))
    codes = [[draw(st.integers(0, ladder.size - 1)) for ladder in chosen] for _ in range(count)]
    sensitive = [draw(st.sampled_from(VALUES)) for _ in range(count)]
    return chosen, np.array(codes, np.int32), sensitive


def classes_at(chosen, codes, node):
    """The rows of each class, by their numbers."""
    classes: dict = {}
    for row, combination in enumerate(codes):
        key = tuple(
            int(ladder.codes[level][code]) for ladder, level, code in zip(chosen, node, combination, strict=True)
        )
        classes.setdefault(key, []).append(row)
    return list(classes.values())


def lattice(chosen):
    return product(*(range(ladder.height) for ladder in chosen))
