"""Quote names and texts for SQL, so that their content is never code."""

from collections.abc import Iterable


def name(text: str) -> str:
    """A quoted name; quotes within are doubled.

    >>> print(name("Straße 7"))
    "Straße 7"
    """
    return '"' + text.replace('"', '""') + '"'


def text(value: str | None) -> str:
    """A quoted text, or NULL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def listed(parts: Iterable[str]) -> str:
    """Parts with commas between them."""
    return ", ".join(parts)
