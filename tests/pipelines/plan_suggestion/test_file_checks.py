"""What a first look at a file refuses, and what it does not."""

from collections import Counter

import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.pipelines.plan_suggestion.file_checks import check_names, writes_commas

ADDRESSES = {f"{place + 1} Maple Street": 1 for place in range(30)}
NUMBERS = {str(20 + place): 1 for place in range(30)}


def test_words_above_numbers_make_a_header_whatever_the_others_are_called():
    """A column mail_addr1 was taken for an address, and the header for the first person."""
    addresses = Profile("mail_addr1", ADDRESSES, rows=30)
    check_names([addresses, Profile("county_id", NUMBERS, rows=30), Profile("birth_age", NUMBERS, rows=30)])
    with pytest.raises(PlanError, match="the first line looks like data"):
        check_names([addresses, Profile("47", NUMBERS, rows=30), Profile("18", NUMBERS, rows=30)])


@pytest.mark.parametrize(
    ("fines", "commas"),
    [
        ({"100.00": 9, "250.00": 8, "1,000.00": 7, None: 9}, False),
        ({"100": 9, "250": 8, "$1,000.50": 7, None: 9}, False),
        ({"100": 9, "250": 8}, True),
        ({"100,00": 9, "250,00": 8, "1.000,00": 7}, True),
        ({"paid": 9, "owes": 8, "1,000.00": 1}, True),  # no column of numbers
    ],
)
def test_a_comma_before_a_point_stands_between_thousands(fines, commas):
    """A bail of 2,500 was published as 2.500 beside fines of 1,000.00."""
    bail = {"0": 9, "500": 8, "5000": 7, "2,500": 9}
    assert writes_commas({"bail": bail, "fine": fines}) == commas


SUMS = [1200 + 613 * place for place in range(60)]


@pytest.mark.parametrize("written", ["€ {}", "{} €", "€{},-", "{} kr", "₺{}", "R$ {}", "{} TL"])
def test_points_between_thousands_of_money_are_no_decimal_marks(written):
    """Values of homes were published as 725 for 725,000, where no other column has a decimal comma."""
    values = [written.format(f"{1000 * sum_:,}".replace(",", ".")) for sum_ in SUMS]
    assert writes_commas({"WOZ-waarde": Counter(values), "rooms": Counter(["2", "3"] * 30)})
    rates = Counter(f"{1 + place / 40:.3f}" for place in range(60))
    assert not writes_commas({"WOZ-waarde": Counter(values), "rate": Counter({**rates, "2.5": 9})})


def test_prices_with_three_decimals_keep_their_points():
    assert not writes_commas({"price": Counter(f"€ 1.{price}9" for price in range(55, 99))})
    assert not writes_commas({"share": Counter(f"{number / 1000:.3f}" for number in range(1, 99))})


@pytest.mark.parametrize("written", ["R$ {}", "₺{}", "{} TL", "{} lei", "{} Ft"])
def test_sums_in_any_currency_are_money(written):
    values = Counter(written.format(f"{sum_ / 8:.2f}") for sum_ in SUMS)
    found = suggest(Profile("Ciro", values, len(SUMS)))
    assert (found.role, found.concept) == ("sensitive", "money")
