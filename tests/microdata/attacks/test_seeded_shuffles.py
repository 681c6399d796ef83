"""Orders by a seed are those that the programs themselves draw, whole or the first places of them."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from sfumato.microdata.attacks.row_order import by_python, by_r, shuffled
from sfumato.microdata.keyed_random import row_hash
from sfumato.microdata.keyed_random import shuffled as by_row_order


@pytest.mark.parametrize("number", [1, 2, 3, 16, 300, 70_000])
@pytest.mark.parametrize("seed", [0, 42, 20260101])
def test_python(number, seed) -> None:
    rows = list(range(number))
    Random(seed).shuffle(rows)
    assert by_python(seed, number).tolist() == rows


def words_of_r(seed: int) -> Iterator[int]:
    state, words = seed, []
    for _ in range(50 + 625):
        state = (69069 * state + 1) % 2**32
        words.append(state)
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(words[51:], np.uint32), 624, 0, 0.0))
    while True:
        yield from twister.randint(0, 2**32, 4096, np.uint32).tolist()


@pytest.mark.parametrize("number", [1, 2, 300, 70_000])
def test_r_draws_by_bits_until_one_fits(number) -> None:
    """Of more than 65,536 rows it takes two words for each."""
    words, left, order = words_of_r(42), list(range(number)), []
    while left:
        bits, at = (len(left) - 1).bit_length(), len(left)
        while at >= len(left):
            at = 0
            for _ in range(bits // 16 + 1):
                at = at << 16 | next(words) >> 16
            at &= (1 << bits) - 1
        order.append(left[at])
        left[at] = left[-1]
        left.pop()
    assert by_r(42, number).tolist() == order
    assert by_r(42, number, min(number, 9)).tolist() == order[:9]


@pytest.mark.parametrize("number", [1, 7, 8, 500])
def test_orders_begin_alike_where_the_first_places_are_asked_for(number) -> None:
    whole, begun = dict(shuffled(7, number)), dict(shuffled(7, number, first=5))
    assert [*whole] == [*begun]
    for name, order in whole.items():
        assert sorted(order.tolist()) == [*range(number)]
        assert order[:5].tolist() == begun[name][:5].tolist()


def test_the_orders_of_releases() -> None:
    orders, key = dict(shuffled(7, 501)), "seed 7:order:"
    assert orders["shuffled by the seed 7"].tolist() == by_row_order(range(1, 502), key).tolist()
    by_hash = sorted(range(501), key=lambda row: row_hash(row + 1, key))
    assert orders["shuffled by the seed 7 (a hash for each row)"].tolist() == by_hash
