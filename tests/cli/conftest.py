"""Shared fixtures of the command line tests: releases try no remedies, whose texts come from the library."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """Switch off remedies, which tests/microdata/methods/test_auto.py tests."""
