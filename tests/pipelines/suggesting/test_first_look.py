"""What a first look at a file refuses, and what it does not."""

import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.pipelines.suggesting.first_look import check_names

ADDRESSES = {f"{place + 1} Maple Street": 1 for place in range(30)}
NUMBERS = {str(20 + place): 1 for place in range(30)}


def test_words_above_numbers_make_a_header_whatever_the_others_are_called():
    """A column mail_addr1 was taken for an address, and the header for the first person."""
    addresses = Profile("mail_addr1", ADDRESSES, rows=30)
    check_names([addresses, Profile("county_id", NUMBERS, rows=30), Profile("birth_age", NUMBERS, rows=30)])
    with pytest.raises(PlanError, match="the first line looks like data"):
        check_names([addresses, Profile("47", NUMBERS, rows=30), Profile("18", NUMBERS, rows=30)])
