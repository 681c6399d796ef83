"""Rounded cuts: no pattern that satisfies a cut violates its rounding, and points that no pattern is near do."""

from itertools import product

import numpy as np
import pytest

from sfumato.tables.suppression.cut_separation import is_roundable, rounded_cut
from sfumato.tables.suppression.master_problem import Cut


def drawn(seed):
    """A capacity cut as attackers answer with it, and a point that satisfies it just so."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    weights = np.minimum(rng.choice([rng.uniform(0.01, 1, size), rng.integers(1, 8, size) / 7]), 1.0)
    shares = np.clip(rng.uniform(-0.3, 1.3, size), 0, 1)
    return Cut(np.arange(size), weights, 1.0), shares


def test_no_pattern_within_a_cut_violates_its_rounding():
    rounded, cells = 0, 0
    for seed in range(400):
        cut, shares = drawn(seed)
        stronger = rounded_cut(cut, shares) if is_roundable(cut) else None
        if stronger is None:
            continue
        patterns = np.array(list(product([0.0, 1.0], repeat=len(cut.cells))))
        within = patterns[patterns @ cut.weights >= 1 - 1e-12]
        assert (within[:, stronger.cells] @ stronger.weights >= stronger.least).all()
        assert stronger.short(shares) > 0
        rounded, cells = rounded + 1, cells + len(within)
    assert rounded > 100
    assert cells > 1_000


@pytest.mark.parametrize(
    ("weights", "shares", "expected"),
    [
        pytest.param([0.9, 0.9, 0.9], [0.5, 0.4, 0.3], ([1, 1, 1], 2), id="two of three"),
        pytest.param([0.98, 1, 1], [1, 0.02, 0], ([1, 1], 1), id="a cover"),
    ],
)
def test_known_roundings(weights, shares, expected):
    cut = Cut(np.arange(len(weights)), np.array(weights, float), 1.0)
    rounded = rounded_cut(cut, np.array(shares, float))
    assert rounded is not None
    assert (np.round(rounded.weights, 6).tolist(), round(rounded.least, 6)) == expected


def test_cells_that_each_suffice_have_nothing_to_round():
    assert not is_roundable(Cut(np.arange(2), np.ones(2), 1.0))
