"""Convert a value to its text, the same on every engine."""

import struct
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isnan
from typing import Any
from uuid import UUID

import numpy as np

from sfumato.errors import DataError

# White space removed at both ends of a text if requested; texts of nothing else are missing.
WHITE_SPACE = " \t\n\r\x0b\x0c"


def as_text(value: Any) -> str | None:
    """Return the text of a value; None for a missing one.

    >>> as_text(True), as_text(7), as_text(1.5), as_text(float("nan")), as_text(-0.0)
    ('true', '7', '1.5', None, '0.0')

    Raises:
        TypeError: Values of this type have no text that is the same on every engine.
    """
    # Most values have one of these two types, which are tested first for speed.
    if type(value) is float:
        return None if isnan(value) else repr(value + 0.0)  # -0.0 becomes 0.0
    if type(value) is str:
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.float32 | np.float16):
        return short_text(float(value))
    if isinstance(value, float | np.floating):
        return None if isnan(value) else repr(float(value) + 0.0)
    if isinstance(value, Decimal):
        return None if value.is_nan() else format(value, "f")
    if isinstance(value, date | time):
        return _moment(value)
    if isinstance(value, str | int | np.integer | UUID) or _is_of_pandas(value):
        return str(value)
    raise TypeError("no text")


def _is_of_pandas(value: Any) -> bool:
    """Return whether the value is a period such as 2024-02, or an interval such as (30, 40] from pandas."""
    kind = type(value)
    return kind.__name__ in ("Period", "Interval") and kind.__module__.partition(".")[0] == "pandas"


def short_text(number: Any) -> str | None:
    """Return the shortest text that identifies a single-precision number; None for a missing one.

    >>> short_text(0.10000000149011612)
    '0.1'
    """
    if not isinstance(number, float) or isnan(number):
        return None
    for digits in range(6, 9):
        near = float(f"{number + 0.0:.{digits}g}")
        if struct.unpack("f", struct.pack("f", near))[0] == number:
            return repr(near)
    return repr(float(f"{number + 0.0:.9g}"))


def _moment(value: date | time) -> str:
    """Return dates and times separated by a blank, in UTC, without trailing zeros of seconds.

    >>> _moment(datetime.fromisoformat("2024-02-29T13:00:00.500+01:00"))
    '2024-02-29 12:00:00.5+00'
    """
    if isinstance(value, time) and value.tzinfo is not None:
        raise TypeError("no text")
    if not isinstance(value, datetime):
        return _trimmed(value.isoformat())
    if value.tzinfo is None:
        return _trimmed(value.isoformat(" "))
    return _trimmed(value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")) + "+00"


def _trimmed(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def no_text(name: str, *others: str) -> DataError:
    """Return the error for columns whose values have no text that is the same on every engine."""
    if others:
        names = ", ".join(f'"{each}"' for each in (name, *others))
        return DataError("no-text.columns_hold_values_that", columns=names).about(column=name)
    return DataError("no-text.column_holds_values_that", column=name).about(column=name)
