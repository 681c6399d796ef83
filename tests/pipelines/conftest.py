"""Shared fixtures of the pipeline tests: generators of messy files in this folder; releases try no remedies."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """Switch off remedies, which tests/microdata/methods/test_auto.py tests."""
