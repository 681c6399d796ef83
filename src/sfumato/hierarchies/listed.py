"""What builders share whose domain is a list of texts."""

from collections import Counter
from collections.abc import Collection, Sequence
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


def distinct(values: Sequence[str]) -> None:
    """Refuse a list in which a value stands twice.

    Raises:
        ValueError: With the values that stand twice.
    """
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError("values stand twice: " + ", ".join(twice) + ".")


def accepted(values: Sequence[str], domain: Collection[str | None]) -> tuple[list[str], tuple[str, ...]]:
    """The values inside a domain, and those outside it.

    >>> accepted(["a", "x"], {"a", "b"})
    (['a'], ('x',))
    """
    inside = [value for value in values if value in domain]
    return inside, tuple(value for value in values if value not in domain)


def nesting(sizes: Sequence[int]) -> None:
    """Refuse sizes of groups that part on one level what an earlier level merged.

    Raises:
        ValueError: When a size is no multiple of the one before it.
    """
    for small, large in pairwise(sizes):
        if large % small or large == small:
            raise ValueError(f"{large} is not a larger multiple of {small}, so the levels would not nest.")
