"""The text of a value, the order of texts and the types of replaced numbers, the same on every engine."""

import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isnan
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, extra_part
from sfumato.microdata.counts.frequency_table import ValueCounts

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
        return DataError("no-text.several_columns", columns=names).about(column=name)
    return DataError("no-text.one_column", column=name).about(column=name)


Texts = tuple[str | None, ...]


def ordered(texts: Sequence[str | None]) -> Texts:
    """Return texts in code order: by their characters, the missing value last."""
    present = sorted(text for text in texts if text is not None)
    return (*present, *([None] * (len(texts) - len(present))))


def numbered(texts: Sequence[str | None]) -> tuple[Texts, npt.NDArray[np.int32]]:
    """Return the ordered distinct texts of a column, and the code of each text.

    >>> numbered(["b", None, "a", "b"])
    (('a', 'b', None), array([1, 2, 0, 1], dtype=int32))
    """
    distinct = ordered([*{*texts}])
    places = {text: code for code, text in enumerate(distinct)}
    return distinct, np.fromiter(map(places.__getitem__, texts), np.int32, len(texts))


def text_counts(columns: Sequence[str], grouped: Any, rows: int | None = None) -> ValueCounts:
    """Convert an Arrow table of combinations to counts.

    Args:
        columns: The names of the columns, in the order of the keys.
        grouped: An Arrow table whose last column is the number of rows of each combination; keys are texts or numbers.
        rows: The number of all rows of the source, if it is not the sum of those counted.
    """
    coded = [_coded(grouped.column(place)) for place in range(len(columns))]
    counts = np.asarray(grouped.column(len(columns)).to_numpy(), np.int64)
    codes = np.column_stack([codes for _, codes in coded]) if coded else np.zeros((0, 0), np.int32)
    whole = int(counts.sum()) if rows is None else rows
    return ValueCounts(tuple(columns), tuple(texts for texts, _ in coded), codes, counts, whole)


def _coded(column: Any) -> tuple[tuple[str | None, ...], npt.NDArray[np.int32]]:
    """Return the distinct texts of an Arrow column, and the code of each entry."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return (), np.zeros(0, np.int32)
    values = encoded.chunk(0).dictionary
    written = short_text if str(values.type) == "float" else as_text
    texts: list[str | None] = [written(value) for value in values.to_pylist()]
    parts = [_places(chunk.indices, len(texts)) for chunk in encoded.chunks]
    return (*texts, *([None] if column.null_count else [])), np.concatenate(parts)


def _places(indices: Any, missing: int) -> npt.NDArray[np.int32]:
    return np.asarray(indices.fill_null(missing).to_numpy(zero_copy_only=False), np.int32)


def arrow(extra: str = "frames") -> Any:
    """Import the Arrow library; `extra` is the name of the extra to install if it is missing."""
    with extra_part("pyarrow", extra):
        import pyarrow
    return pyarrow


# The limit of a 64-bit column.
_MOST = 2**63


def are_whole(texts: Sequence[str | None]) -> bool:
    """Return whether texts are integers of at most 64 bits, so that no digit is lost.

    >>> are_whole(["20260101123456789", None, "-5"]), are_whole(["2.5"]), are_whole(["1e3"])
    (True, False, False)
    """
    return all(text is None or _is_whole(text) for text in dict.fromkeys(texts))


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and int(digits) < _MOST


def are_decimals(texts: Sequence[str | None], precision: int, scale: int) -> bool:
    """Return whether texts are numbers with at most `precision` digits, of which at most `scale` are decimals.

    >>> are_decimals(["12345678901234567890.25", None], 22, 2), are_decimals(["0.125"], 22, 2)
    (True, False)
    """
    return all(text is None or _is_decimal(text, precision, scale) for text in dict.fromkeys(texts))


def _is_decimal(text: str, precision: int, scale: int) -> bool:
    before, _, behind = text.removeprefix("-").partition(".")
    digits = before + behind
    return (
        digits.isascii() and digits.isdigit() and len(behind) <= scale and len(before.lstrip("0")) <= precision - scale
    )
