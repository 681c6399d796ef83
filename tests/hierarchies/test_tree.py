"""Trees: any depth, leaves of different depths, one root."""

import pytest

from sfumato.hierarchies.lists import Tree

MARITAL = Tree(
    {
        "Never-married": "NM",
        "Married-civ-spouse": "Married",
        "Married-AF-spouse": "Married",
        "Divorced": "leave",
        "Separated": "leave",
        "Widowed": "alone",
        "Married-spouse-absent": "alone",
    }
)


def test_the_marital_status_of_the_specification():
    ladder = MARITAL.fit(["Divorced"]).hierarchy
    assert (ladder.height, ladder.size) == (3, 7)
    assert ladder.labels[1:] == (("NM", "Married", "leave", "alone"), ("*",))
    assert ladder.values[0] == "Never-married"


def test_higher_leaves_repeat_their_label_until_the_others_are_as_high():
    tree = Tree({"Bonn": "Rhein", "Rhein": "NRW", "NRW": "Germany", "Ulm": "Germany", "Wien": "*"})
    assert tree.fit([]).hierarchy.rows() == [
        ("Bonn", "Rhein", "NRW", "Germany", "*"),
        ("Ulm", "Ulm", "Ulm", "Germany", "*"),
        ("Wien", "Wien", "Wien", "Wien", "*"),
    ]


def test_inner_labels_are_values_when_the_data_hold_them():
    tree = Tree({"I10.0": "I10", "I10.9": "I10", "I10": "Heart"})
    assert tree.fit(["I10"]).hierarchy.rows() == [
        ("I10.0", "I10", "Heart", "*"),
        ("I10.9", "I10", "Heart", "*"),
        ("I10", "I10", "Heart", "*"),
    ]
    assert tree.fit(["Heart"]).hierarchy.published("Heart", 1) == "Heart"


def test_values_outside_the_tree_are_rejected():
    assert MARITAL.fit(["Divorced", "single", "*"]).rejected == ("single", "*")


def test_one_top_that_is_no_star_stands_under_it():
    assert Tree({"a": "x", "b": "x"}).fit([]).hierarchy.rows()[0] == ("a", "x", "*")


@pytest.mark.parametrize(
    ("parents", "words"),
    [({}, "at least one"), ({"a": "a"}, "cycle"), ({"a": "b", "b": "c", "c": "a"}, "cycle"), ({"*": "a"}, "root")],
)
def test_faults_of_the_parameters(parents, words):
    with pytest.raises(ValueError, match=words):
        Tree(parents)
