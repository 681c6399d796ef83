"""Date shifting: all dates of a person are shifted by one random number of days, so that intervals stay the same."""

from collections.abc import Sequence
from datetime import date, timedelta
from hashlib import sha256

from sfumato.errors import DataError
from sfumato.microdata.counts.frequency_table import value_of


def shifted(
    texts: Sequence[str | None], persons: Sequence[str], most: int, secret: str, missing: Sequence[str], column: str
) -> list[str | None]:
    """Return the dates of rows, each shifted by the days of its person.

    Raises:
        DataError: A value is no date.
    """
    return [
        text if value_of(text, missing) is None else _moved(str(text), days_of(secret, person, most), column)
        for text, person in zip(texts, persons, strict=True)
    ]


def days_of(secret: str, person: str, most: int) -> int:
    """Return the days by which a person's dates are shifted, uniformly distributed between both limits.

    >>> -30 <= days_of("secret", "Ada", 30) <= 30
    True
    """
    number = int.from_bytes(sha256(f"{secret}:shift:{person}".encode()).digest())
    return number % (2 * most + 1) - most


def _moved(text: str, days: int, column: str) -> str:
    try:
        return (date.fromisoformat(text[:10]) + timedelta(days)).isoformat() + text[10:]
    except (ValueError, OverflowError):
        raise DataError("date", column=column).about(column=column) from None
