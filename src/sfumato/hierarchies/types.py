"""Column types: the canonical text of a value of a type, and its number."""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import date
from decimal import Context, Decimal
from typing import Literal, get_args
from unicodedata import category

import numpy as np
import numpy.typing as npt

from sfumato.delimited.dialect import CURRENCY_SIGN
from sfumato.patterns import regex

ColumnType = Literal["text", "integer", "decimal", "amount", "date", "boolean"]
NUMBER_TYPES: tuple[ColumnType, ...] = ("integer", "decimal", "amount")
COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)

_NUMERAL = regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
# A number with a currency before it, thousands separators, and a unit, a currency or a percent sign after it.
_AMOUNT = regex(
    rf"(?:{CURRENCY_SIGN}|[A-Z]{{3}}(?=[ \u00a0])|Fr\.)?"
    r"[\s\u00a0\u202f]*([+-]?)\s*"
    r"(\d{1,3}(?:[,'\u2019 \u00a0\u2009\u202f]\d{3})+|\d+)(\.\d+)?[\s\u00a0\u202f]*([^\d\s.,]\S{0,9})?",
    re.ASCII,
)
# Digits after a number belong to another one (`12-14`, `12:30`, `0x10`), except those of areas and volumes.
_POWERS = regex(r"(?<=m)[23](?=/|$)|[²³](?=/|$)")
_UNIT_SIGNS = "%‰°"
_INSIDE_UNITS = "/.·*"
# First characters of numerals: a code that begins otherwise is none.
_BEGINS = frozenset("+-.0123456789")
# Most numbers are already canonical, which is quickly checked.
_PLAIN = regex(r"-?[1-9]\d{0,17}(?:\.\d{0,17}[1-9])?|-?0\.\d{0,17}[1-9]|0", re.ASCII)
_PLAIN_LINES = regex(rf"(?:{_PLAIN.pattern})(?:\n(?:{_PLAIN.pattern}))*+", re.ASCII)
# Others have trailing zeros, such as numbers with two decimals.
_FIXED = r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?"
_FIXED_LINES = regex(rf"{_FIXED}(?:\n{_FIXED})*+", re.ASCII)
_WHOLE = regex(r"0|-?[1-9]\d{0,17}", re.ASCII)
_ISO = regex(r"(\d{4}-\d{2}-\d{2})(?:[ T]00:00(?::00(?:\.0+)?)?)?", re.ASCII)
_TRUTH = {"true": "true", "1": "true", "yes": "true", "false": "false", "0": "false", "no": "false"}
# Exact arithmetic, also for numbers with more digits than Python's 28.
MANY_DIGITS = Context(prec=400)
# With more digits, a number is a code that only looks like one.
_MAX_DIGITS = 40
# Floating-point numbers represent decimal numbers with this many digits exactly; texts of this many characters have no
# more.
_EXACT_DIGITS = 15


def canonical(values: Sequence[str], type_: ColumnType) -> tuple[list[str | None], list[int]]:
    """Return the canonical text of each value (None if it does not have the type), and the indices of the latter.

    >>> canonical(["007", "39.0", "x"], "integer")
    (['7', '39', None], [2])
    """
    one, is_plain = _CANONICAL[type_], _PLAIN.fullmatch
    if type_ not in ("decimal", "amount"):
        texts = [one(value) for value in values]
    elif (forms := plain_numbers_of(values)) is not None:
        return [*forms], []
    else:
        begins = _BEGINS if type_ == "decimal" else None
        texts = [
            value if is_plain(value) else None if begins and value[:1] not in begins else one(value) for value in values
        ]
    return texts, [place for place, text in enumerate(texts) if text is None]


def numbers_of(values: Sequence[str], type_: ColumnType) -> npt.NDArray[np.float64] | None:
    """Return the canonical values as numbers (dates as proleptic ordinals), or None for types without numbers.

    >>> numbers_of(["1970-01-01"], "date")
    array([719163.])
    """
    if type_ == "date":
        return np.fromiter((date.fromisoformat(value).toordinal() for value in values), np.float64, len(values))
    return numerals(values) if type_ in NUMBER_TYPES else None


def exact(number: float) -> Decimal:
    """Return the decimal number as written, not its binary neighbor.

    >>> exact(0.1)
    Decimal('0.1')
    """
    return Decimal(repr(number))


def inexact(values: Sequence[str | None], numbers: npt.NDArray[np.float64]) -> dict[int, Decimal]:
    """Return the exact numbers of values that floating-point numbers cannot represent, by index.

    >>> values = ["0.1", "0.30000000000000004", "100000000000000001", "x"]
    >>> inexact(values, numerals(values))
    {2: Decimal('100000000000000001')}
    """
    found = {}
    for place, value in enumerate(values):
        # A date in digits is not a number of these digits.
        if value and len(value) > _EXACT_DIGITS and _NUMERAL.fullmatch(value) and float(value) == numbers[place]:
            number = Decimal(value)
            if number != exact(float(value)):
                found[place] = number
    return found


def ranks_of(values: Sequence[str | None], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the rank of each value by its exact number, from 0; those without a number share the last one.

    >>> values = ["100000000000000003", "1e17", "100000000000000001", "100000000000000000", "x"]
    >>> ranks_of(values, numerals(values)).tolist()
    [2, 0, 1, 0, 3]
    """
    longer = inexact(values, numbers)
    if not longer:
        return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    present = np.flatnonzero(~np.isnan(numbers)).tolist()
    decimals = {place: longer.get(place) or exact(float(numbers[place])) for place in present}
    places = {number: rank for rank, number in enumerate(sorted(set(decimals.values())))}
    ranks = np.full(len(numbers), len(places), np.int64)
    ranks[present] = [places[decimals[place]] for place in present]
    return ranks


def numerals(values: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the values as numbers, NaN if a text is no finite decimal number.

    >>> numerals(["1.5", "1_0", "inf"])
    array([1.5, nan, nan])
    """
    numbers = _numbers_of_signs(values)
    if numbers is None:
        matches = _NUMERAL.fullmatch
        numbers = np.fromiter((float(text) if matches(text) else np.nan for text in values), np.float64, len(values))
    numbers[np.isinf(numbers)] = np.nan
    return numbers


def _numbers_of_signs(texts: Collection[str]) -> npt.NDArray[np.float64] | None:
    """Return the numbers of texts of digits, points and minuses only; None if some are others, or no number.

    For these, `float` accepts exactly the numbers, and checking all characters at once is much faster.
    """
    lines = "\n".join(texts).encode(errors="replace")
    if lines.translate(None, b"0123456789.-\n") or lines.count(b"\n") != max(len(texts) - 1, 0):
        return None
    try:
        return np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None


def plain(number: Decimal) -> str:
    """Return a number without exponent and without redundant zeros.

    >>> plain(Decimal("1.50")), plain(Decimal("1E+2")), plain(Decimal("-0.0"))
    ('1.5', '100', '0')
    """
    # Not normalize(), which rounds to 28 digits and would merge two values.
    return _shortened(format(number, "f"))


def _shortened(text: str) -> str:
    """Return a number text without exponent and without redundant zeros."""
    shown = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if shown == "-0" else shown


def _integer(text: str) -> str | None:
    if _WHOLE.fullmatch(text):
        return text
    number = _number(text)
    return None if number is None or number != number.to_integral_value() else plain(number)


def is_plain_number(text: str) -> bool:
    """Return whether a text is the canonical one of its number.

    >>> [is_plain_number(text) for text in ("1.5", "-7", "0", "1.50", "007", "-0", "1e3")]
    [True, True, True, False, False, False, False]
    """
    return _PLAIN.fullmatch(text) is not None


def are_plain_numbers(texts: Collection[str]) -> bool:
    """Return whether all texts are canonical numbers, checked together for speed.

    >>> are_plain_numbers(["1.5", "-7"]), are_plain_numbers(["1.5", "x"]), are_plain_numbers(["1\\n2"])
    (True, False, False)
    """
    first = next(iter(texts), "")
    if not _PLAIN.fullmatch(first):
        return False
    lines = "\n".join(texts)
    return _PLAIN_LINES.fullmatch(lines) is not None and lines.count("\n") == len(texts) - 1


def plain_numbers_of(texts: Collection[str]) -> list[str] | None:
    """Return the canonical texts of number texts, processed together; None if some have other notations.

    >>> plain_numbers_of(["1.50", "-0.0", "20"]), plain_numbers_of(["1.50", "007"]), plain_numbers_of(["1.5\\n2"])
    (['1.5', '0', '20'], None, None)
    """
    if are_plain_numbers(texts):
        return list(texts)
    lines = "\n".join(texts)
    fixed = _FIXED_LINES.fullmatch(lines) is not None and lines.count("\n") == len(texts) - 1
    return [_shortened(text) if text[-1] == "0" else text for text in texts] if fixed else None


def _decimal(text: str) -> str | None:
    if _PLAIN.fullmatch(text):
        return text
    number = _number(text)
    return None if number is None else plain(number)


def _number(text: str) -> Decimal | None:
    if len(text) > _MAX_DIGITS or not _NUMERAL.fullmatch(text):
        return None
    number = Decimal(text)
    return number if abs(number.adjusted()) <= _MAX_DIGITS else None


def _amount(text: str) -> str | None:
    """Return the number of an amount; its unit is dropped, so a column must have one unit."""
    if _PLAIN.fullmatch(text):
        return text
    bare = text.strip()
    match = _AMOUNT.fullmatch(bare)
    if _NUMERAL.fullmatch(bare) or match is None:
        return _decimal(bare)
    if match[4] is not None and not _is_unit(match[4]):
        return None
    whole = re.sub(r"\D", "", match[2], flags=re.ASCII)
    return _decimal(f"{match[1]}{whole}{match[3] or ''}")


def _is_unit(text: str) -> bool:
    """Return whether the text after a number is a unit, and neither the rest of a text nor part of an exponent.

    >>> [_is_unit(text) for text in ("%", "°C", "kg/m2", "€", "/min", "-", "/2", "e", "x10")]
    [True, True, True, True, True, False, False, False, False]
    """
    letters = _POWERS.sub("", text)
    begins = _is_unit_sign(letters[:1]) or (letters[:1] == "/" and letters[1:2].isalpha())
    return (
        begins and letters not in ("e", "E") and all(_is_unit_sign(sign) or sign in _INSIDE_UNITS for sign in letters)
    )


def _is_unit_sign(sign: str) -> bool:
    return sign.isalpha() or (sign != "" and (sign in _UNIT_SIGNS or category(sign) == "Sc"))


def _date(text: str) -> str | None:
    match = _ISO.fullmatch(text)
    try:
        return date.fromisoformat(match[1]).isoformat() if match else None
    except ValueError:
        return None


def _boolean(text: str) -> str | None:
    return _TRUTH.get(text.lower())


_CANONICAL: dict[ColumnType, Callable[[str], str | None]] = {
    "text": lambda text: text,
    "integer": _integer,
    "decimal": _decimal,
    "amount": _amount,
    "date": _date,
    "boolean": _boolean,
}
