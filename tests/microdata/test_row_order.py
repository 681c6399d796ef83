"""The order of rows: by the keyed hash of their numbers, however it is worked out."""

import numpy as np
import pytest

from sfumato.microdata import keyed_random as order


def test_rows_are_shuffled_by_the_texts_of_their_hashes():
    rows = [*range(1, 400), 10**12, 7]
    texts = [order.place_hash(row, "key:") for row in rows]
    assert order.shuffled(rows, "key:").tolist() == sorted(range(len(rows)), key=texts.__getitem__)


def test_no_rows_have_an_order():
    assert order.shuffled([], "key:").tolist() == []


def test_neighbors_share_a_hash_and_no_part_of_it():
    rows = range(1, 2001)
    parts = [order.place_hash(row, "it's a key:") for row in rows]
    assert "".join(parts) == "".join(order.row_hash(number, "it's a key:") for number in range(500))
    assert len({*parts}) == len(rows)


def test_rows_without_some_of_them_stay_in_the_same_order():
    whole = [row + 1 for row in order.shuffled(range(1, 1001), "key:").tolist()]
    few = [row for row in range(1, 1001) if row % 3]
    assert [few[place] for place in order.shuffled(few, "key:").tolist()] == [row for row in whole if row % 3]


# Keys that leave room for the number in a block of 64 bytes, leave too little, fill it, and fill several.
@pytest.mark.parametrize("length", [0, 4, 39, 46, 47, 54, 55, 56, 63, 64, 65, 127, 200])
def test_hashes_of_numbers_are_those_of_their_texts(length):
    key = "kéy:"[:length].ljust(length, "x")
    numbers = np.array([0, 9, 10, 7, 99_999, 10**12, 2**62])
    texts = ["".join(f"{int(word):016x}" for word in words) for words in order.hash_words(numbers, key)]
    assert texts == [order.row_hash(number, key) for number in numbers.tolist()]


@pytest.mark.parametrize("bits", [0, 1, 8, 60])
def test_words_that_are_alike_in_their_first_bits_are_told_apart_by_the_others(bits):
    words = np.random.default_rng(bits).integers(0, 2**bits, 500, dtype=np.uint64) | np.uint64(5 << 60)
    assert order.order_of(words).tolist() == sorted(range(500), key=words.tolist().__getitem__)
