"""Sizes of tests: small in every run, full where SFUMATO_SIZES says `full` (`make prove`). The claims are the same."""

import os
from typing import TypeVar

T = TypeVar("T")
FULL = os.environ.get("SFUMATO_SIZES") == "full"


def size(small: T, full: T) -> T:
    """The size at hand."""
    return full if FULL else small
