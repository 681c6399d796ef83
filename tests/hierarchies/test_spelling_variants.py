"""Spellings of one value are told, by case, space and short forms of answers; other values stay apart."""

import pytest

from sfumato.hierarchies.spellings import meanings, misspelled, surplus


@pytest.mark.parametrize(
    ("texts", "more"),
    [
        (["no", "No", "N", "nein "], 1),  # no answer yes: N may be anything
        (["no", "No", "N", "nein ", "ja", "Y"], 4),
        (["yes", "no"], 0),
        (["N", "S", "n"], 1),
        (["Ärger", "ärger", "Ä rger"], 1),
        (["A+", "A-", "a+"], 1),
        (["1", "0", "ja"], 1),
        (["1.", "1"], 1),
        (["I10.90", "I1090", "i10.90"], 2),  # a diagnosis, with and without its point
        (["C50.9", "C509", "C50"], 1),
        (["B1.5", "B15", "A10.5 mg", "A105 mg"], 0),
        ([], 0),
    ],
)
def test_texts_more_than_values_meant(texts, more):
    assert surplus(texts) == more


def test_nothing_is_lost():
    assert [*meanings(["", " ", "x"])] == ["", " ", "x"]


@pytest.mark.parametrize(
    ("counts", "number"),
    [
        ({"Köln": 50, "Kölln": 2, "Koeln": 1}, 1),
        ({"married": 40, "maried": 1, "marreid": 1, "single": 30}, 2),
        ({"north": 12, "south": 9}, 0),
        ({"A12": 50, "A13": 1}, 0),
        ({"male": 40, "female": 3}, 0),
    ],
)
def test_misspellings_are_rare_and_one_letter_away(counts, number):
    assert misspelled(counts) == number
