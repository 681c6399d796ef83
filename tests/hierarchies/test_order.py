"""Order and any: neighbors in groups, and all or nothing."""

import pytest

from sfumato.hierarchies.lists import Order, SuppressAll


def test_powers_of_a_size_until_one_group_is_left():
    ladder = Order(size=2).fit(list("gfedcba")).hierarchy
    assert ladder.labels[1:] == (("a..b", "c..d", "e..f", "g"), ("a..d", "e..g"), ("*",))


def test_groups_of_given_sizes():
    assert Order(groups=(3, 6)).fit(list("abcdefg")).hierarchy.labels[1:] == (
        ("a..c", "d..f", "g"),
        ("a..f", "g"),
        ("*",),
    )


def test_numbers_are_in_order_of_size_and_texts_of_letters():
    numeric = Order(size=2).fit(["10", "9", "2.5"]).hierarchy
    assert numeric.values == ("2.5", "9", "10")
    assert numeric.numbers.tolist() == [2.5, 9, 10]
    mixed = Order(size=2).fit(["10", "9", "x"]).hierarchy
    assert mixed.values == ("10", "9", "x")
    assert mixed.numbers is None


def test_a_listed_order_is_the_domain():
    binding = Order(size=2, values=("low", "medium", "high")).fit(["high", "other"])
    assert binding.hierarchy.rows() == [
        ("low", "low..medium", "*"),
        ("medium", "low..medium", "*"),
        ("high", "high", "*"),
    ]
    assert binding.rejected == ("other",)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_values(count):
    assert Order(size=2).fit(list("ab")[:count]).hierarchy.height == 2


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "either"),
        ({"groups": (2,), "size": 2}, "either"),
        ({"groups": (2, 3)}, "nest"),
        ({"groups": (2, 2)}, "nest"),
        ({"size": 2, "values": ("a", "a")}, "duplicate"),
    ],
)
def test_faults_of_the_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        Order(**parameters)


def test_any_is_the_value_or_nothing():
    assert SuppressAll().fit(["m", "f"]).hierarchy.rows() == [("f", "*"), ("m", "*")]


def test_any_with_a_fixed_domain_rejects_others():
    binding = SuppressAll(("m", "f", "d")).fit(["f", "x"])
    assert binding.hierarchy.values == ("m", "f", "d")
    assert binding.rejected == ("x",)
    with pytest.raises(ValueError, match="duplicate"):
        SuppressAll(("m", "m"))
