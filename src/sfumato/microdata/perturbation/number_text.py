"""Convert texts to the numbers that perturbation works on, and numbers back to published texts."""

from collections.abc import Sequence
from decimal import Decimal
from math import floor, isnan, log10

import numpy as np

from sfumato.errors import DataError
from sfumato.hierarchies.types import canonical, plain
from sfumato.microdata.counts.frequency_table import value_of
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.publish_plan import Round

Texts = Sequence[str | None]
# Significant digits of noise: more than any measurement, fewer than machines may disagree on.
NOISE_DIGITS = 12
# The squares of larger numbers overflow.
GREATEST = 1e150
# Integers from here on are not all distinguished.
EXACT_WHOLE = 2.0**53
NO_NUMBERS = "{count} {count:value is no number|values are no numbers}"


def numbers_of(texts: Texts, column: str, missing: Sequence[str]) -> Floats:
    """Return the numbers of texts, NaN for missing ones.

    Raises:
        DataError: Some texts are no numbers.
    """
    quick = _all_numbers(texts, missing)
    if quick is not None:
        return checked(quick, column)
    values = [value_of(text, missing) for text in texts]
    if not _are_numerals(values):
        raise _no_numbers(values, column)
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except ValueError:
        raise _no_numbers(values, column) from None
    if (np.isnan(numbers) != np.array([value is None for value in values], bool)).any() or np.isinf(numbers).any():
        raise _no_numbers(values, column)
    return checked(numbers, column)


def checked(numbers: Floats, column: str) -> Floats:
    """Return the same numbers, after checking that none is too large for computation."""
    if (np.abs(numbers) > GREATEST).any():
        raise DataError("too-great.numbers_of_column", column=column).about(column=column)
    return numbers


def check_digits(numbers: Floats, texts: Texts, column: str) -> None:
    """Refuse numbers with more digits than floating-point numbers distinguish."""
    there = [
        text for text, number in zip(texts, numbers.tolist(), strict=True) if text is not None and not isnan(number)
    ]
    if len({Decimal(text.strip()) for text in there}) > len(set(numbers[~np.isnan(numbers)].tolist())):
        raise DataError("too-many-digits", column=column).about(column=column)


def may_be_missing(missing: Sequence[str]) -> bool:
    """Return whether a number may be a code for a missing value."""
    return any(text.strip().lstrip("+-")[:1].isdigit() for text in missing)


def _all_numbers(texts: Texts, missing: Sequence[str]) -> Floats | None:
    """Return the numbers of texts without missing ones; None if some may be missing."""
    if may_be_missing(missing) or not _are_numerals(texts):
        return None
    try:
        numbers = np.array(list(map(float, texts)))  # type: ignore[arg-type]  # a missing one is no float
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _are_numerals(texts: Texts) -> bool:
    """Return whether no text uses notation that only Python accepts as a number: `1_000`, digits of other scripts."""
    signs = "".join(filter(None, texts))
    return "_" not in signs and (signs.isascii() or not any(sign.isdecimal() and not sign.isascii() for sign in signs))


def _no_numbers(values: Texts, column: str) -> DataError:
    present = list(dict.fromkeys(value for value in values if value is not None))
    _, wrong = canonical([value.strip() for value in present], "decimal")
    return DataError("invalid-value.column", column=column, count=max(len(wrong), 1)).about(
        values=[present[place] for place in wrong], column=column
    )


def strings_of(numbers: Floats, step: float | None = None, decimals: int | None = None) -> list[str | None]:
    """Return numbers as published: the shortest exact text, or rounded to a base; None for NaN.

    Args:
        decimals: Maximum number of decimals, if more are meaningless.

    >>> strings_of(np.array([20260101123456.0, 2.50, np.nan])), strings_of(np.array([12.4]), 5)
    (['20260101123456', '2.5', None], ['10'])
    """
    distinct, places = np.unique(numbers, return_inverse=True)
    operation = None if step is None else Round(Decimal(str(step)))
    kept = distinct.tolist() if decimals is None else [round(number, decimals) for number in distinct.tolist()]
    texts = np.array([_text(repr(number), operation) for number in kept], object)
    shown: list[str | None] = texts[places.reshape(-1)].tolist()
    return shown


def noise_decimals(spread: float) -> int | None:
    """Return the number of decimals for numbers with noise, from the original standard deviation.

    >>> noise_decimals(15.0), noise_decimals(0.002), noise_decimals(0.0)
    (10, 14, None)
    """
    return NOISE_DIGITS - 1 - floor(log10(spread)) if spread > 0 else None


def rounded_texts(texts: Texts, step: float | None) -> list[str | None]:
    """Return texts of numbers rounded to a base, or unchanged without one."""
    if step is None:
        return list(texts)
    operation = Round(Decimal(str(step)))
    return [None if text is None else operation.publish(Decimal(text.strip())) for text in texts]


def _text(text: str, operation: Round | None) -> str | None:
    """Return the published text for the shortest text of a number."""
    if text == "nan":
        return None
    if operation is None and "e" not in text and text != "-0.0":
        return text.removesuffix(".0")
    short = Decimal(text)
    return plain(short) if operation is None else operation.publish(short)
