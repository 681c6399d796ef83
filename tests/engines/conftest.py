"""What the tests of engines share: no release tries remedies, which are the same on every engine."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """What remedies find is asked in tests/microdata/methods/test_auto.py, which has them."""
