"""What a first look at a file refuses, and what it does not."""

import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.pipelines.suggesting.first_look import check_names, writes_commas

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
