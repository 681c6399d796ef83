"""Generalization hierarchies, types of values, and spellings of one value."""

import numpy as np
import pytest

from refusals import refused
from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import Hierarchy, make_hierarchy
from sfumato.hierarchies.spellings import meanings, misspelled, surplus
from sfumato.hierarchies.types import canonical, numbers_of, plain_numbers_of

# The ladder refuses what is none, and counts what its labels cover.


def test_a_ladder_that_parts_what_it_had_merged_is_refused_with_the_values():
    with pytest.raises(PlanError) as caught:
        make_hierarchy(["a", "b", "c"], [["x", "x", "y"], ["1", "2", "2"]])
    assert caught.value.code == "plan.hierarchy-not-monotone"
    assert caught.value.values == ("a", "b")
    assert "level 2" in caught.value.message
    assert '"a"' not in str(caught.value)


def test_a_root_is_added_unless_the_last_level_is_one_label_of_stars():
    cases = {
        "no level": ([], ("*",)),
        "two labels": ([["x", "y"]], ("*",)),
        "one label that is a word": ([["x", "x"]], ("*",)),
        "stars": ([["x", "y"], ["***", "***"]], ("***",)),
    }
    for name, (levels, root) in cases.items():
        assert make_hierarchy(["a", "b"], levels).labels[-1] == root, name


def test_an_empty_domain_keeps_its_levels_and_root():
    ladder = make_hierarchy([], [[], []])
    assert (ladder.height, ladder.size, ladder.labels[-1]) == (3, 0, ("*",))
    assert ladder.with_missing().published(None, 2) == "*"


def test_levels_must_have_a_label_for_every_value():
    with pytest.raises(ValueError, check=refused("error.value.every_level_needs_label")):
        Hierarchy(("a", "b"), (("a", "b"), ("*",)), (np.arange(2, dtype=np.int32), np.zeros(1, np.int32)))


def test_two_roots_are_refused():
    with pytest.raises(ValueError, check=refused("error.value.ladder_needs_one_root")):
        Hierarchy(("a", "b"), (("a", "b"),), (np.arange(2, dtype=np.int32),))


def test_penalties_are_the_share_of_the_domain_covered():
    ladder = make_hierarchy(["a", "b", "c", "d", "e"], [["x", "x", "x", "y", "y"]])
    assert ladder.penalties[0].tolist() == [0, 0, 0, 0, 0]
    assert ladder.penalties[1].tolist() == [0.5, 0.25]
    assert ladder.penalties[2].tolist() == [1]


def test_the_missing_value_is_no_part_of_the_domain():
    ladder = make_hierarchy(["a", "b", "c"], [["x", "x", "y"]]).with_missing()
    assert ladder.published(None, 1) is None
    assert ladder.published(None, 2) == "*"
    assert ladder.penalties[1].tolist() == [0.5, 0, 0]
    assert ladder.with_missing() is ladder


def test_step_leads_from_labels_to_labels():
    ladder = make_hierarchy(["a", "b", "c", "d"], [["x", "x", "y", "z"], ["u", "u", "u", "v"]])
    assert ladder.step(1, 2).tolist() == [0, 0, 1]
    assert ladder.step(0, 3).tolist() == [0, 0, 0, 0]


# Spellings of one value are told, by case, space and short forms of answers; other values stay apart.


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


# Types: one text for a value, and its number.


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("text", "007", "007"),
        ("integer", "007", "7"),
        ("integer", "+7", "7"),
        ("integer", "-0", "0"),
        ("integer", "39.0", "39"),
        ("integer", "39.5", None),
        ("integer", "1e3", "1000"),
        ("integer", "1e999", None),
        ("integer", "x", None),
        ("integer", "", None),
        ("integer", "1_000", None),
        ("integer", "123456789012345678901234567890", "123456789012345678901234567890"),
        ("decimal", "1.50", "1.5"),
        ("decimal", ".5", "0.5"),
        ("decimal", "1E+2", "100"),
        ("decimal", "-0.00", "0"),
        ("decimal", "nan", None),
        ("decimal", "1,5", None),
        ("amount", "73%", "73"),
        ("amount", "€ 412", "412"),
        ("amount", "EUR 1,234.50", "1234.5"),
        ("amount", "-1,180,000", "-1180000"),
        ("amount", "66.5 m²", "66.5"),
        ("amount", "5.4 mmol/l", "5.4"),
        ("amount", "1'000 CHF", "1000"),
        ("amount", "1e3", "1000"),
        ("amount", "12,5", None),
        ("amount", "E5", None),
        ("amount", ">100", None),
        ("amount", "12 or 13", None),
        ("amount", "  3201", "3201"),
        ("amount", " 1e3 ", "1000"),
        ("amount", " .5", "0.5"),
        ("amount", "1’000", "1000"),
        ("amount", "24.1 kg/m2", "24.1"),
        ("amount", "60/min", "60"),
        ("amount", "5 µg", "5"),
        ("amount", "20 ₹", "20"),
        *(("amount", text, None) for text in ("500-", "1_000", "12-14", "12:30", "2020-01-01", "1/2", "0x10", "1e5x")),
        *(("amount", text, None) for text in ("90+", "5²", "1½", "1e", "1 e3", "1d5", "5 -", "5;6", "12h30", "5?")),
        ("boolean", "TRUE", "true"),
        ("boolean", "0", "false"),
        ("boolean", "Yes", "true"),
        ("boolean", "maybe", None),
        ("date", "2017-01-10", "2017-01-10"),
        ("date", "2017-01-10 00:00:00", "2017-01-10"),
        ("date", "2017-01-10T00:00:00.000", "2017-01-10"),
        ("date", "2017-01-10 12:00:00", None),
        ("date", "2017-02-30", None),
        ("date", "20170110", None),
    ],
)
def test_canonical_texts(type_, text, expected):
    assert canonical([text], type_) == ([expected], [] if expected is not None else [0])


def test_canonical_texts_are_their_own():
    for type_, text in [("integer", "7"), ("decimal", "1.5"), ("boolean", "true"), ("date", "2017-01-10")]:
        assert canonical([text], type_)[0] == [text]


def test_numbers():
    assert numbers_of(["7", "-3"], "integer").tolist() == [7, -3]
    assert numbers_of(["1.5", "x"], "decimal")[0] == 1.5
    assert np.isnan(numbers_of(["x"], "decimal")[0])
    assert numbers_of(["0001-01-01"], "date").tolist() == [1]
    assert numbers_of(["a"], "text") is None
    assert numbers_of(["true"], "boolean") is None


FIXED = ["1.50", "-0.00", "20", "0.10", "-7.00", "100", "0", "12.34", "-0", "999999999999999999.000000000000000001"]


@pytest.mark.parametrize("odd", ["", "007", "+1.5", "1e3", " 2.50", ".5", "1.", "1.5\n2", "x", "1,5", "１.５"])
@pytest.mark.parametrize("type_", ["decimal", "amount"])
def test_texts_are_the_same_together_as_one_by_one(type_, odd):
    for texts in (FIXED, [*FIXED, odd], [odd, *FIXED]):
        assert canonical(texts, type_)[0] == [canonical([text, "x"], type_)[0][0] for text in texts]


def test_numbers_with_zeros_at_their_end_are_seen_together():
    assert plain_numbers_of(FIXED) == [canonical([text, "x"], "decimal")[0][0] for text in FIXED]
    assert plain_numbers_of(["1.5\n2", "3"]) is None
