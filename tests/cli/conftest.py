"""What the tests of the command line share: no release tries remedies, whose words are those of the library."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """What remedies find is asked in tests/microdata/methods/test_auto.py, which has them."""
