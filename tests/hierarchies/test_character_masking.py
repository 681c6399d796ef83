"""Digits: characters vanish one by one from either end."""

import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.lists import MAX_LENGTH, CharacterMasking
from sfumato.hierarchies.registry import TYPES
from sfumato.schema.composite import read


def test_the_six_rungs_of_a_postcode():
    assert CharacterMasking(5).fit(["12345"]).hierarchy.rows() == [
        ("12345", "1234*", "123**", "12***", "1****", "*****")
    ]


def test_from_the_left_the_first_characters_vanish_first():
    digits = read(TYPES["digits"], {"length": 3, "from": "left"})
    assert digits.fit(["abc"]).hierarchy.rows() == [("abc", "*bc", "**c", "***")]


def test_values_of_another_length_are_rejected():
    binding = CharacterMasking(5).fit(["1234", "12345", "123456", ""])
    assert binding.rejected == ("1234", "123456", "")
    assert binding.hierarchy.values == ("12345",)


def test_without_a_length_shorter_values_count_as_masked_already():
    assert CharacterMasking().fit(["AB123", "AB1"]).hierarchy.rows() == [
        ("AB1", "AB1**", "AB1**", "AB***", "A****", "*****"),
        ("AB123", "AB12*", "AB1**", "AB***", "A****", "*****"),
    ]
    assert CharacterMasking(side="left").fit(["123", "3"]).hierarchy.rows() == [
        ("123", "*23", "**3", "***"),
        ("3", "**3", "**3", "***"),
    ]


def test_values_that_share_a_prefix_share_labels():
    ladder = CharacterMasking(5).fit(["72062", "72021", "63331"]).hierarchy
    assert ladder.values == ("63331", "72021", "72062")
    assert ladder.labels[2:4] == (("633**", "720**"), ("63***", "72***"))


def test_the_root_is_of_stars_whatever_masks():
    assert CharacterMasking(2, character="x").fit(["12"]).hierarchy.rows() == [("12", "1x", "**")]


@pytest.mark.parametrize("values", [[], ["7"], [""]])
def test_short_domains(values):
    assert CharacterMasking().fit(values).hierarchy.height == 2


def test_texts_too_long_for_a_ladder_are_rejected():
    long = "9" * (MAX_LENGTH + 1)
    assert CharacterMasking().fit([long, "12"]).rejected == (long,)


@pytest.mark.parametrize("entry", [{"length": 0}, {"length": 5, "from": "middle"}, {"character": "**"}, {"lenght": 5}])
def test_faults_of_the_parameters(entry):
    with pytest.raises(PlanError):
        read(TYPES["digits"], entry)


def test_codes_of_unequal_spelling_are_one_place_above_the_raw_values() -> None:
    ladder = CharacterMasking(shown=(5, 3)).fit(["27511", "27511-1234", "27513"]).hierarchy
    assert ladder.rows() == [
        ("27511", "27511", "275**", "*****"),
        ("27511-1234", "27511", "275**", "*****"),
        ("27513", "27513", "275**", "*****"),
    ]
    assert CharacterMasking(shown=(5,)).fit(["2751", "27511"]).rejected == ("2751",)
    assert CharacterMasking(shown=(4,), side="left").fit(["A-1234", "1234"]).hierarchy.published("A-1234", 1) == "1234"
