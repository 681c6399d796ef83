"""Quote names and texts for SQL, so that their content is never code."""

from collections.abc import Iterable


def name(text: str) -> str:
    """Return a quoted name, with inner quotes doubled.

    >>> print(name("Straße 7"))
    "Straße 7"
    """
    return '"' + text.replace('"', '""') + '"'


def text(value: str | None) -> str:
    """Return a quoted text, or NULL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def listed(parts: Iterable[str]) -> str:
    """Join parts with commas."""
    return ", ".join(parts)
