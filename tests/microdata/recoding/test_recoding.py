"""Recodings: divided combinations rank their rows, and columns that stay as they are are known."""

import numpy as np

from sfumato.microdata.recoding.recoding import Division, Handling


def division(combinations, codes, rows) -> Division:
    numbers = [np.array(part, np.int64) for part in (combinations, codes, range(len(rows)), rows)]
    return Division(
        "key", "illness", ("flu", "cold"), {"flu": 0, "cold": 1}, numbers[0], numbers[1], numbers[2], numbers[3]
    )


def test_the_last_rank_of_each_share():
    """Two shares of flu and one of cold in the first combination, two of flu in the second."""
    shares = division([0, 0, 0, 4, 4], [0, 0, 1, 0, 0], [2, 3, 4, 1, 6])
    assert shares.ends.tolist() == [2, 5, 4, 1, 7]


def test_a_combination_whose_number_follows_is_another():
    assert division([0, 1], [1, 0], [2, 3]).ends.tolist() == [2, 3]


def test_keys_of_persons_are_a_column_where_they_are_published():
    assert Handling(person="patient", publishes_keys=True).key_column == "patient"
    assert Handling(person="patient").key_column is None
