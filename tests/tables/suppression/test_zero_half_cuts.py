"""Halves of sums of cuts: found where there are some, kept by every pattern that keeps the cuts, always the same."""

from itertools import product

import numpy as np
import pytest

from sfumato.tables.suppression.master_problem import Cut
from sfumato.tables.suppression.zero_half_cuts import ZeroHalf


def cut(cells, weights, least):
    return Cut(np.array(cells), np.array(weights, float), float(least))


def ring(size):
    """Cuts that ask for one of two neighbors each, all the way round."""
    return [cut([place, (place + 1) % size], [1, 1], 1) for place in range(size)]


def cuts_of(cuts, shares):
    halves = ZeroHalf(len(shares))
    for own in cuts:
        halves.add(own)
    return halves.cuts(np.asarray(shares, float))


@pytest.mark.parametrize("size", [3, 5, 9, 71])
def test_of_an_odd_ring_more_than_half_is_needed(size):
    found = cuts_of(ring(size), [0.5] * size)
    assert [(own.cells.tolist(), own.weights.tolist(), own.least) for own in found] == [
        (list(range(size)), [1.0] * size, (size + 1) // 2)
    ]


@pytest.mark.parametrize("size", [4, 70])
def test_of_an_even_ring_half_is_enough(size):
    assert cuts_of(ring(size), [0.5] * size) == []


def test_a_ring_that_a_masked_cell_closes():
    """A cell that is masked almost wholly is counted from the other end."""
    cuts = [cut([0, 1], [1, 1], 1), cut([1, 2], [1, 1], 1), cut([0, 2, 3], [1, 1, -1], 0)]
    found = cuts_of(cuts, [0.5, 0.5, 0.5, 1.0])
    assert [(own.cells.tolist(), own.weights.tolist(), own.least) for own in found] == [
        ([0, 1, 2, 3], [1.0, 1.0, 1.0, -1.0], 1.0)
    ]


def test_cuts_of_parts_take_no_part():
    assert cuts_of([*ring(3)[:2], cut([0, 2], [0.7, 1], 1)], [0.5] * 3) == []


def test_thirds_are_whole_numbers_times_three():
    thirds = [cut(own.cells, own.weights / 3, own.least / 3) for own in ring(3)]
    assert [own.least for own in cuts_of(thirds, [0.5] * 3)] == [2.0]


def random_cuts(rng, size):
    """Cuts as attackers and bridges give them, and some with other whole numbers."""
    for _ in range(rng.integers(4, 12)):
        cells = rng.choice(size, rng.integers(2, 5), replace=False)
        weights = rng.choice([1, 1, 1, 2, 3, -1], len(cells))
        yield cut(cells, weights, rng.integers(0, 3))


def test_every_pattern_that_keeps_the_cuts_keeps_halves_of_their_sums():
    rng, size, count = np.random.default_rng(5), 8, 0
    patterns = np.array(list(product((0.0, 1.0), repeat=size)))
    for _ in range(300):
        cuts = list(random_cuts(rng, size))
        kept = [pattern for pattern in patterns if all(own.short(pattern) <= 0 for own in cuts)]
        # Points between patterns need not keep the cuts: what is found must hold all the same.
        shares = rng.choice([0.0, 0.25, 0.5, 0.5, 0.75, 1.0], size)
        found = cuts_of(cuts, shares)
        count += len(found)
        for own in found:
            assert own.short(shares) > 0
            assert all(own.short(pattern) <= 1e-9 for pattern in kept)
    assert count > 100


def test_the_same_cuts_every_time():
    rng = np.random.default_rng(8)
    cuts = list(random_cuts(rng, 30)) + ring(31)
    shares = rng.choice([0.25, 0.5, 0.5, 0.75], 31)
    first, second = (cuts_of(cuts, shares) for _ in range(2))
    assert [(own.cells.tolist(), own.weights.tolist()) for own in first] == [
        (own.cells.tolist(), own.weights.tolist()) for own in second
    ]
    assert first
