"""Texts that count: one word for one, another for more, as `{rows} {rows:row|rows}` says it."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

from sfumato.patterns import regex

# A choice by a count, and its parts: the count, what is said of one, what of more.
CHOICE = regex(r"\{([a-z_]+):([^{}|]+)\|([^{}|]+)\}")


class Counting(Formatter):
    """Formats choices by a count; other fields as `str.format` does."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, "" if isinstance(value, str) else format_spec))
        one, _, many = format_spec.partition("|")
        return one if str(value) == "1" else many


_COUNTING = Counting()


class PluralMessage(str):
    """A text with choices by counts.

    >>> PluralMessage("{rows} {rows:row is|rows are} left").format(rows="1")
    '1 row is left'
    """

    __slots__ = ()

    def format(self, *positional: object, **values: object) -> str:
        return filled(self, values, *positional)


def filled(text: str, values: Mapping[str, object], *positional: object) -> str:
    """A text, filled in.

    >>> filled("{count} {count:attack|attacks}", {"count": 2})
    '2 attacks'
    """
    return _COUNTING.vformat(text, positional, values)
