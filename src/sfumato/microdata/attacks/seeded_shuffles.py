"""Row orders that common programs draw from a seed: Sfumato, NumPy, pandas, Python and R."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.shuffle_kernels import order_of_python, order_of_r
from sfumato.microdata.row_order import ROWS_A_HASH, hash_words

Order = npt.NDArray[np.int64]
# The order that another program draws from a seed and a number of rows, with the program's name.
Shuffle = Callable[[int, int], Order]
# Common seeds, tried in addition to the seed of the plan.
SEEDS = (*range(11), 42, 123, 1234, 2023, 2024, 2025, 2026, 20260101, 1337, 31337)


def shuffled(
    seed: int, number: int, others: Sequence[tuple[str, Shuffle]] = (), first: int | None = None
) -> Iterator[tuple[str, Order]]:
    """Yield the orders that programs draw from a seed, with their names; at least the first positions of each."""
    wanted, says = number if first is None else min(first, number), Message("note.attack_shuffled", seed=seed)
    # The hash of the row's number places it; or a quarter of one, of four rows each.
    words = hash_words(np.arange(number + 1), f"seed {seed}:order:")
    yield says, _least_first(words[: -(-number // ROWS_A_HASH)].reshape(-1)[:number], wanted)
    yield f"{says} (a hash for each row)", _least_first(words[1:, 0], wanted)
    yield f"{says} (NumPy)", np.random.default_rng(seed).permutation(number)
    yield f"{says} (NumPy, pandas)", np.random.RandomState(seed % 2**32).permutation(number)
    yield f"{says} (Python)", by_python(seed, number)
    yield f"{says} (R)", by_r(seed, number, wanted)
    for name, shuffle in others:
        yield f"{says} ({name})", shuffle(seed, number)


def _least_first(words: npt.NDArray[np.uint64], first: int) -> Order:
    """Return the positions of the smallest words in ascending order; of equal words, the first comes first."""
    if first == len(words):
        return np.argsort(words, kind="stable")
    places = np.flatnonzero(words <= np.partition(words, first)[first])
    return places[np.argsort(words[places], kind="stable")]


def by_python(seed: int, number: int) -> Order:
    """Return the order that `Random(seed).shuffle` makes.

    >>> by_python(42, 10).tolist()
    [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]
    """
    *words, place = Random(seed).getstate()[1]

    def order_of(drawn: Order) -> Order:
        order = np.arange(number)
        return order if order_of_python(drawn, order) >= 0 else order[:0]

    return _drawn((words, place), number, order_of)


def by_r(seed: int, number: int, first: int | None = None) -> Order:
    """Return the order of `set.seed(seed); sample(number)` in R 3.6 and later, counted from 0, or its first positions.

    R seeds the Mersenne twister with a congruential generator, and draws positions by bits with rejection.

    >>> (by_r(42, 10) + 1).tolist()
    [1, 5, 10, 8, 2, 4, 6, 9, 7, 3]
    """
    state, words = seed % 2**32, []
    for turn in range(50 + 625):
        state = (69069 * state + 1) % 2**32
        if turn > 50:  # the generator state after seeding
            words.append(state)
    wanted = number if first is None else first
    return _drawn((words, len(words)), wanted, lambda drawn: order_of_r(drawn, np.arange(number), wanted))


def _drawn(state: tuple[Sequence[int], int], wanted: int, order_of: Callable[[Order], Order]) -> Order:
    """Return an order from the words of a Mersenne twister, drawing as many words as needed."""
    size = 4 * wanted + 100
    while True:
        twister = np.random.RandomState()
        twister.set_state(("MT19937", np.array(state[0], np.uint32), state[1], 0, 0.0))
        order = order_of(twister.randint(0, 2**32, size, np.uint32).astype(np.int64))
        if len(order) == wanted:
            return order
        size *= 2
