"""SQL words: names and texts quoted so that nothing in them is ever code."""

from collections.abc import Iterable


def name(text: str) -> str:
    """A quoted name.

    >>> name('Straße "alt"')
    '"Straße ""alt"""'
    """
    return '"' + text.replace('"', '""') + '"'


def text(value: str | None) -> str:
    """A quoted text, or NULL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def listed(parts: Iterable[str]) -> str:
    """Parts with commas between them."""
    return ", ".join(parts)
