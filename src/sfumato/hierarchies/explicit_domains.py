"""Explicit domains given as lists of texts, and the base of hierarchies that read no file."""

from collections import Counter
from collections.abc import Container, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Self

from sfumato.localization.messages import Message


class PathFree:
    """Base class of hierarchies that read no file."""

    __slots__ = ()

    @property
    def is_rule_based(self) -> bool:
        """Whether a value's labels depend on that value alone, so that new values get labels as well."""
        return True

    def resolve_paths(self, folder: Path) -> Self:  # noqa: ARG002
        """Return the hierarchy itself, because it has no path."""
        return self


def check_distinct(values: Sequence[str]) -> None:
    """Refuse a list with duplicate values."""
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError("duplicate values: " + ", ".join(twice) + ".")


def outside(values: Sequence[str], domain: Container[str | None]) -> tuple[str, ...]:
    """Return the values that are not in a domain.

    >>> outside(["a", "x"], {"a", "b"})
    ('x',)
    """
    return tuple(value for value in values if value not in domain)


def check_nesting(sizes: Sequence[int]) -> None:
    """Refuse group sizes that would split at one level what a lower level merged.

    Raises:
        ValueError: If a size is no multiple of the one before it.
    """
    for small, large in pairwise(sizes):
        if large % small or large == small:
            raise ValueError(Message("error.value.no_nesting", large=large, small=small))
