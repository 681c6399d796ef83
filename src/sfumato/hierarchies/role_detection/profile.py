"""The profile of a column: its name, its distinct values with their numbers of rows, and their distribution."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import compress

import numpy as np

from sfumato.hierarchies.spellings import plain_keys
from sfumato.hierarchies.types import canonical
from sfumato.patterns import regex
from sfumato.values import Value

# Systolic and diastolic value.
PRESSURE = regex(r"(?:[6-9]\d|1\d\d|2[0-5]\d) ?/ ?(?:[3-9]\d|1[0-5]\d)")
FEET = regex(r"""([3-7]) ?(?:'|’|′|ft\.?|-) ?(0?\d|1[01])(?:[.]5)? ?(?:"|”|″|''|in\.?)?""")
# More distinct heights than persons have, half inches included.
_INCHES = 12
# Maximum sample size for patterns: columns of millions show no more than these.
_SAMPLE = 1000
# A column with so few values, each in many rows, is categorical, whatever its name says.
FEW_VALUES = 20
_ROWS_A_VALUE = 10


class Profile(Value, dict=True):
    """The profile of a column: name, distinct values with their rows, number of rows, and of missing values."""

    name: str
    counts: Mapping[str, int]
    rows: int
    missing: int = 0

    @cached_property
    def values(self) -> list[str]:
        """The distinct values."""
        return list(self.counts)

    @property
    def present(self) -> int:
        """The rows that have a value."""
        return self.rows - self.missing

    @cached_property
    def distinct_keys(self) -> int:
        """The number of distinct values as person keys, i.e. without case and punctuation.

        >>> Profile("x", {"LB-1": 1, "lb 1": 1}, rows=2).distinct_keys
        1
        """
        return len(plain_keys(self.counts))

    @property
    def distinct_share(self) -> float:
        """Distinct values per row with a value: 1 if every value is unique.

        >>> Profile("x", {"a": 3, "b": 1}, rows=4).distinct_share
        0.5
        """
        return len(self.counts) / self.present if self.present else 0.0

    @property
    def top_share(self) -> float:
        """The proportion of the most frequent value among the rows that have one."""
        return max(self.counts.values(), default=0) / max(self.present, 1)

    def share_in_groups(self, size: int) -> float:
        """Return the proportion of rows whose value occurs in at least `size` rows.

        >>> Profile("x", {"a": 3, "b": 1}, rows=4).share_in_groups(2)
        0.75
        """
        return sum(rows for rows in self.counts.values() if rows >= size) / max(self.present, 1)

    @property
    def few(self) -> bool:
        """Whether the column has a few values, each in many rows."""
        return len(self.counts) <= FEW_VALUES and self.present >= _ROWS_A_VALUE * len(self.counts)

    @cached_property
    def separation(self) -> float:
        """How much the column distinguishes rows: the entropy of its values in bits, including the missing one.

        >>> Profile("x", {"a": 2, "b": 2}, rows=4).separation
        1.0
        """
        sizes = np.array([*self.counts.values(), *([self.missing] if self.missing else [])], float)
        shares = sizes / max(self.rows, 1)
        return float(-(shares * np.log2(shares)).sum() + 0.0)

    @cached_property
    def sample(self) -> list[str]:
        """Some of the distinct values, evenly spaced."""
        return self.values[:: max(len(self.counts) // _SAMPLE, 1)]

    @cached_property
    def words_each(self) -> float:
        """Mean number of words per value of the sample."""
        return sum(len(value.split()) for value in self.sample) / max(len(self.sample), 1)

    @cached_property
    def _sample_rows(self) -> list[int]:
        return [self.counts[value] for value in self.sample]

    @cached_property
    def _stripped(self) -> list[str]:
        return [value.strip() for value in self.sample]

    @cached_property
    def decimals(self) -> tuple[list[str | None], list[int]]:
        """The values as decimal numbers (None for others), and the indices of the others."""
        return canonical(self.values, "decimal")

    def share(self, test: Callable[[str], object]) -> float:
        """Return the proportion of the sample's rows whose value passes a test.

        >>> Profile("x", {"a1": 3, "b": 1}, rows=4).share(re.compile("[0-9]").search)
        0.75
        """
        return self._share(map(test, self.sample))

    def share_of(self, pattern: "re.Pattern[str]") -> float:
        """Return the proportion of the sample's rows whose full stripped value matches a pattern."""
        return self._share(map(pattern.fullmatch, self._stripped))

    def _share(self, passed: Iterable[object]) -> float:
        """The proportion of the sample's rows that have passed a test."""
        rows = sum(self._sample_rows)
        return sum(compress(self._sample_rows, passed)) / rows if rows else 0.0


def inches(text: str) -> int:
    """Return the inches of a height in feet and inches.

    >>> inches("5'04\\""), inches("6-1"), inches("5 ft 11 in")
    (64, 73, 71)
    """
    match = FEET.fullmatch(text.strip())
    return _INCHES * int(match[1]) + int(match[2]) if match else 0
