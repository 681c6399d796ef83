"""What the tests of pipelines share: generators of messy files lie beside them, and no release tries remedies."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """What remedies find is asked in tests/microdata/methods/test_auto.py, which has them."""
