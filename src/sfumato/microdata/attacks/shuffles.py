"""Orders that common programs draw from a seed: Sfumato, NumPy, pandas, Python and R; others are handed in."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from sfumato.microdata.row_order import row_hash
from sfumato.microdata.row_order import shuffled as by_row_order

Order = npt.NDArray[np.int64]
# What another program makes of a seed and a number of rows, by its name.
Shuffle = Callable[[int, int], Order]
# Seeds that people use, besides the one of the plan.
SEEDS = (*range(11), 42, 123, 1234, 2023, 2024, 2025, 2026, 20260101, 1337, 31337)


def shuffled(seed: int, number: int, others: Sequence[tuple[str, Shuffle]] = ()) -> Iterator[tuple[str, Order]]:
    """The orders of so many rows by a seed, each with its name."""
    rows, key = range(1, number + 1), f"seed {seed}:order:"
    yield f"shuffled by the seed {seed}", by_row_order(rows, key)
    hashes = [row_hash(row, key) for row in rows]
    yield (
        f"shuffled by the seed {seed} (a hash for each row)",
        np.array(sorted(range(number), key=hashes.__getitem__), np.int64),
    )
    yield f"shuffled by the seed {seed} (NumPy)", np.random.default_rng(seed).permutation(number)
    yield f"shuffled by the seed {seed} (NumPy, pandas)", np.random.RandomState(seed % 2**32).permutation(number)
    places = list(range(number))
    Random(seed).shuffle(places)
    yield f"shuffled by the seed {seed} (Python)", np.array(places, np.int64)
    yield f"shuffled by the seed {seed} (R)", by_r(seed, number)
    for name, shuffle in others:
        yield f"shuffled by the seed {seed} ({name})", shuffle(seed, number)


def by_r(seed: int, number: int) -> Order:
    """What `set.seed(seed); sample(number)` gives in R from 3.6 on, counted from 0.

    R fills the state of the Mersenne twister by a congruential generator, and draws places by bits until one fits.

    >>> (by_r(42, 10) + 1).tolist()
    [1, 5, 10, 8, 2, 4, 6, 9, 7, 3]
    """
    draw = _twister_of_r(seed)
    left, order = list(range(number)), np.empty(number, np.int64)
    for place in range(number):
        size = number - place
        bits = (size - 1).bit_length()
        at = size
        while at >= size:
            at = 0
            for _ in range(bits // 16 + 1):
                at = at << 16 | next(draw) >> 16
            at &= (1 << bits) - 1
        order[place] = left[at]
        left[at] = left[size - 1]
    return order


def _twister_of_r(seed: int) -> Iterator[int]:
    """The 32 bits that R draws after `set.seed`, one by one."""
    state, words = seed % 2**32, []
    for turn in range(50 + 625):
        state = (69069 * state + 1) % 2**32
        if turn > 50:  # the first word after the warming up is where the generator stands
            words.append(state)
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(words, np.uint32), 624, 0, 0.0))
    while True:
        yield from twister.randint(0, 2**32, 4096, np.uint32).tolist()
