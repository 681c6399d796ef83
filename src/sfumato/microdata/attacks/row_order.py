"""Row-order attack: test whether the order of the published rows leads back to the original rows.

The attacker assumes an order in which the rows may have been written: the original order, its reverse, sorted by an
original column, or shuffled with a known or guessable seed. Both files are then read in parallel. A pair of rows is
correct when the published row matches the original one: its label covers the original value, or a perturbed number has
the same rank. If rows were left out, the attacker continues with the next original row that matches. The baseline is
the same attack with a random order.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import ceil, log
from random import Random

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, Codes, codes_of
from sfumato.microdata.attacks.kernels import order_of_python, order_of_r
from sfumato.microdata.attacks.label_semantics import Floats, Text, days_in, numbers_in
from sfumato.microdata.attacks.result import AttackResult, Rate
from sfumato.microdata.attacks.singling_out import Told
from sfumato.microdata.keyed_random import ROWS_A_HASH, hash_words

Order = npt.NDArray[np.int64]
# The order that another program draws from a seed and a number of rows, with the program's name.
Shuffle = Callable[[int, int], Order]
# Common seeds, tried in addition to the seed of the plan.
SEEDS = (*range(11), 42, 123, 1234, 2023, 2024, 2025, 2026, 20260101, 1337, 31337)


def shuffled(
    seed: int, number: int, others: Sequence[tuple[str, Shuffle]] = (), first: int | None = None
) -> Iterator[tuple[Message, Order]]:
    """Yield the orders that programs draw from a seed, with their names; at least the first positions of each."""
    wanted, says = (
        number if first is None else min(first, number),
        partial(Message, "note.attack_shuffled_by", seed=seed),
    )
    # The hash of the row's number places it; or a quarter of one, of four rows each.
    words = hash_words(np.arange(number + 1), f"seed {seed}:order:")
    yield (
        says(by=Message("note.attack_hash_of_rows")),
        _least_first(words[: -(-number // ROWS_A_HASH)].reshape(-1)[:number], wanted),
    )
    yield says(by=Message("note.attack_hash_of_row")), _least_first(words[1:, 0], wanted)
    yield says(by="NumPy"), np.random.default_rng(seed).permutation(number)
    yield says(by="NumPy, pandas"), np.random.RandomState(seed % 2**32).permutation(number)
    yield says(by="Python"), by_python(seed, number)
    yield says(by="R"), by_r(seed, number, wanted)
    for name, shuffle in others:
        yield says(by=name), shuffle(seed, number)


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
    """Return a row order generated from the words of a Mersenne twister."""
    size = 4 * wanted + 100
    while True:
        twister = np.random.RandomState()
        twister.set_state(("MT19937", np.array(state[0], np.uint32), state[1], 0, 0.0))
        order = order_of(twister.randint(0, 2**32, size, np.uint32).astype(np.int64))
        if len(order) == wanted:
            return order
        size *= 2


NAME = "order"
# Number of published rows read if rows were left out.
_LOOKED_AT = 200
_FEW_ROWS = 50_000
# Number of rows read if none was left out; the result carries over to more rows.
_MOST_READ = 100_000
# Numbers with fewer distinct values, or with fewer exact matches among original rows, were rounded or changed.
_ROUNDED_SHARE, _EXACT_SHARE = 0.5, 0.8
# Tolerance in rank for noise, as a share of the rows.
_SLACK = 0.02


def attack_order(
    rows: AttackRows,
    others: Sequence[Sequence[Text]],
    seeds: Sequence[int],
    random: np.random.Generator,
    shuffles: Sequence[tuple[str, Shuffle]] = (),
    told: Told = lambda: None,
) -> AttackResult:
    """Return the most successful of all orders.

    Args:
        others: Further original columns by which rows may be sorted.
        seeds: Seeds that the attacker knows.
        shuffles: Further programs that draw orders from seeds.
        told: Progress callback, called after each order.
    """
    published, number, _ = rows.sizes
    reading = _Reading(_Fits(rows), published, number)
    published = reading.published
    chance = float(np.mean([reading.matched(random.permutation(number)) for _ in range(8)]))
    best, variant, tried = 0, Message("note.attack_no_order"), 0
    for name, order in _orders(rows, others, seeds, shuffles, reading.first):
        matched = reading.matched(order)
        tried += 1
        told()
        if matched > best:
            best, variant = matched, name
    # The best of many orders succeeds partly by chance; the guesser gets the same advantage.
    allowed = min(1.0, chance / max(published, 1) + _spread(chance, published, tried))
    return AttackResult(
        NAME,
        variant if best > allowed * published else Message("note.attack_no_order"),
        Rate(best, published),
        Rate(allowed * published, published),
        details={"orders": tried},
    )


def _spread(chance: float, published: int, tried: int) -> float:
    """Return how far the best of several random orders exceeds the mean, as a share of rows."""
    share = chance / max(published, 1)
    return float(np.sqrt(2 * np.log(max(tried, 2)) * share * (1 - share) / max(published, 1)))


class _Fits:
    """Match published with original rows, column by column."""

    def __init__(self, rows: AttackRows) -> None:
        changed = [column for column in rows.shown if _is_changed(column)]
        self.columns = [column for column in rows.shown if not column.is_large and column not in changed]
        self.large = [column for column in rows.shown if column.is_large and column not in changed]
        self.ranks = [_Ranks(column) for column in changed]

    def first_rows(self, published: int, raw: int) -> npt.NDArray[np.bool_]:
        """Return whether each of the first published rows matches each original row."""
        whole = np.arange(raw)
        return np.array([self.pairs(np.full(raw, row), whole) for row in range(published)]).reshape(published, raw)

    def pairs(self, published: Order, raw: Order) -> npt.NDArray[np.bool_]:
        """Return whether each pair of a published and an original row matches."""
        holds = np.ones(len(published), bool)
        for column in self.columns:
            labels = column.published[published]
            # A label without known meaning excludes no original row.
            holds &= column.covers[labels, column.raw[raw]] | column.strange_labels[labels]
        for column in self.large:
            labels = column.published[published]
            holds &= (column.label_places[column.raw[raw]] == labels) | column.strange_labels[labels]
        for ranks in self.ranks:
            holds &= ranks.pairs(published, raw)
        return holds


def _is_changed(column: AttackColumn) -> bool:
    """Return whether numbers are published rounded, coded or with noise, without a label that covers the original."""
    if column.numbers is None or column.ladder is not None:
        return False
    of_labels, of_values = len(column.labels), len(np.unique(column.raw))
    return of_labels < _ROUNDED_SHARE * of_values or float(_is_exact(column).mean()) < _EXACT_SHARE


def _is_exact(column: AttackColumn) -> npt.NDArray[np.bool_]:
    """Return for each label whether an original row has exactly that number."""
    assert column.numbers is not None
    labels, values = column.numbers
    exact: npt.NDArray[np.bool_] = np.isin(labels, values[column.raw])
    return exact


class _Ranks:
    """Perturbed numbers: a published one matches original ones of the same rank."""

    def __init__(self, column: AttackColumn) -> None:
        assert column.numbers is not None
        labels, values = column.numbers
        self.published = _standing(labels[column.published])
        self.raw = _standing(values[column.raw])

    def pairs(self, published: Order, raw: Order) -> npt.NDArray[np.bool_]:
        """Return for pairs of a published and an original row whether their ranks overlap."""
        low, high = (end[published] for end in self.published)
        least, most = (end[raw] for end in self.raw)
        meet: npt.NDArray[np.bool_] = (least <= high + _SLACK) & (most >= low - _SLACK)
        return meet


def _standing(numbers: Floats) -> tuple[Floats, Floats]:
    """Return for each row the share of rows with a smaller number, and with a number that is not larger."""
    ordered = np.sort(numbers)
    size = max(len(numbers), 1)
    return np.searchsorted(ordered, numbers, "left") / size, np.searchsorted(ordered, numbers, "right") / size


def _longest_gap(dropped: float) -> int:
    """Return the maximum number of consecutive rows left out, exceeded with a probability of one in a thousand.

    >>> _longest_gap(0.02), _longest_gap(0.5)
    (2, 10)
    """
    return ceil(log(1e-3) / log(min(max(dropped, 1e-6), 0.9)))


class _Reading:
    """Parallel reading of both files.

    Attributes:
        published: Number of published rows read.
        first: Maximum number of original rows read in an order.
    """

    def __init__(self, fits: _Fits, published: int, number: int) -> None:
        self._fits = fits
        self._window = _longest_gap(max(number - published, 0) / max(number, 1)) + 1
        self._is_whole = published == number
        self.published = min(published, _MOST_READ if self._is_whole else _LOOKED_AT)
        # For few original rows the table is computed at once. For many rows, the attack never needs most pairs.
        few = not self._is_whole and number <= _FEW_ROWS
        self._table = fits.first_rows(self.published, number) if few else None
        self.first = min(number, self.published * (1 if self._is_whole else self._window))

    def matched(self, order: Order) -> int:
        """Return the number of published rows that match the original rows in an order, skipping suppressed rows."""
        if self._is_whole:
            return int(self._fits.pairs(np.arange(self.published), order[: self.published]).sum())
        return self._in_turn(order[: self.first])

    def _in_turn(self, order: Order) -> int:
        """Return the number of published rows that match in one pass over the original rows, some of which are
        missing."""
        matched, at = 0, 0
        for row in range(self.published):
            raw = order[at : at + self._window]
            if not len(raw):
                break
            hits = self._fits.pairs(np.full(len(raw), row), raw) if self._table is None else self._table[row, raw]
            first = int(hits.argmax())
            matched += bool(hits[first])
            at += first + 1 if hits[first] else 1
        return matched


def _orders(
    rows: AttackRows,
    others: Sequence[Sequence[Text]],
    seeds: Sequence[int],
    shuffles: Sequence[tuple[str, Shuffle]],
    first: int,
) -> Iterator[tuple[Message, Order]]:
    number = rows.sizes[1]
    plain = np.arange(number)
    yield Message("note.attack_raw_order"), plain
    yield Message("note.attack_reversed"), plain[::-1]
    for texts, codes in (*((column.values, column.raw) for column in rows.columns), *map(codes_of, others)):
        order = _sorted(texts, codes)
        yield Message("note.attack_sorted"), order
        yield Message("note.attack_falling"), order[::-1]
    for seed in dict.fromkeys((*seeds, *SEEDS)):
        yield from shuffled(seed, number, shuffles, first)


def _sorted(texts: Sequence[Text], codes: Codes) -> Order:
    """Return the sort order of a column: numbers by size, dates by time, others by their texts."""
    numbers = numbers_in(texts)
    numbers = days_in(texts) if numbers is None else numbers
    if numbers is None:
        ranks = {text: rank for rank, text in enumerate(sorted({text or "" for text in texts}))}
        numbers = np.array([ranks[text or ""] for text in texts], float)
    return np.argsort(numbers[codes], kind="stable")
