"""Texts with singular and plural forms chosen by a count, such as `{rows} {rows:row|rows}`."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

from sfumato.patterns import regex

# A plural choice; its groups are the name of the count, the singular and the plural.
CHOICE = regex(r"\{([a-z_]+):([^{}|]+)\|([^{}|]+)\}")


class Counting(Formatter):
    """Formatter of plural choices; it formats other fields as `str.format` does."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, "" if isinstance(value, str) else format_spec))
        one, _, many = format_spec.partition("|")
        return one if str(value) == "1" else many


_COUNTING = Counting()


class PluralMessage(str):
    """A text with plural choices.

    >>> PluralMessage("{rows} {rows:row is|rows are} left").format(rows="1")
    '1 row is left'
    """

    __slots__ = ()

    def format(self, *positional: object, **values: object) -> str:
        return filled(self, values, *positional)


def filled(text: str, values: Mapping[str, object], *positional: object) -> str:
    """Return a text filled with values.

    >>> filled("{count} {count:attack|attacks}", {"count": 2})
    '2 attacks'
    """
    return _COUNTING.vformat(text, positional, values)
