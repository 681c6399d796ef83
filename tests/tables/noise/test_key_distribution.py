"""Keys that fill their range are taken, all others refused."""

import numpy as np
import pytest

from sfumato.tables.noise.cell_key import distribution_of
from sfumato.tables.tabulate import WORD


@pytest.mark.parametrize("modulus", [100, 10**6, WORD])
def test_sound_keys_are_taken_whatever_their_number(modulus):
    rng = np.random.default_rng(1)
    for many in (0, 1, 2, 5, 20, 1000, 20000):
        assert distribution_of((int(key) for key in rng.integers(0, modulus, many, np.uint64)), modulus).sound


def test_keys_that_stand_in_many_years_are_taken():
    """Three persons in thirty years are three keys, wherever these lie."""
    keys = [WORD // 5, WORD // 5 + 1, WORD // 4]
    assert distribution_of(keys * 30, WORD).sound


NARROW = {
    "one number": ([7], WORD),
    "few numbers": (range(1, 8), 10**6),
    "numbers": (range(400), 10**6),
    "all zero": ([0] * 50, WORD),
    "upper half": (range(5 * 10**5, 10**6, 2000), 10**6),
    "all halves": ([5 * 10**5] * 25, 10**6),
    "all the same": ([3**39] * 5, WORD),
    "five values": ([2 * 10**5 * (place % 5) for place in range(30)], 10**6),
    "five random values": ([(place % 5) * 3**39 + 5 for place in range(600)], WORD),
    "two values": ([place % 2 * 2**63 for place in range(40)], WORD),
    "two clusters": ([place % 2 * 2**63 + place % 10 for place in range(600)], WORD),
    "eight values": ([place % 8 * 2**61 for place in range(40)], WORD),
    "tenths": ([place % 10 * 10**5 for place in range(40)], 10**6),
    "one part left out": ([key for key in range(0, 10**6, 50) if not 10**5 < key < 2 * 10**5], 10**6),
}


@pytest.mark.parametrize("kind", NARROW)
def test_keys_that_lie_close_together_are_refused(kind):
    keys, modulus = NARROW[kind]
    assert not distribution_of(keys, modulus).sound
