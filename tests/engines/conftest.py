"""Shared fixtures of the engine tests: releases try no remedies, which are the same on every engine."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def releases_without_remedies(no_remedies: None) -> None:
    """Switch off remedies, which tests/microdata/methods/test_auto.py tests."""
