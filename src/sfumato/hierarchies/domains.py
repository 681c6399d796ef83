"""Explicit domains given as lists of texts, and the base of hierarchies that read no file."""

from collections import Counter
from collections.abc import Container, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Self


class Placeless:
    """A hierarchy that reads no file."""

    __slots__ = ()

    @property
    def by_rule(self) -> bool:
        """Whether a value's labels depend on that value alone, so that they are known for values not yet seen."""
        return True

    def located(self, folder: Path) -> Self:  # noqa: ARG002
        """Itself: there is no path to locate."""
        return self


def check_distinct(values: Sequence[str]) -> None:
    """Refuse a list in which a value stands twice.

    Raises:
        ValueError: With the values that stand twice.
    """
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError("values stand twice: " + ", ".join(twice) + ".")


def outside(values: Sequence[str], domain: Container[str | None]) -> tuple[str, ...]:
    """The values that a domain does not have.

    >>> outside(["a", "x"], {"a", "b"})
    ('x',)
    """
    return tuple(value for value in values if value not in domain)


def check_nesting(sizes: Sequence[int]) -> None:
    """Refuse sizes of groups that part on one level what an earlier level merged.

    Raises:
        ValueError: When a size is no multiple of the one before it.
    """
    for small, large in pairwise(sizes):
        if large % small or large == small:
            raise ValueError(f"{large} is not a larger multiple of {small}, so the levels would not nest.")
