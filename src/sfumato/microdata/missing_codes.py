"""Codes for missing values in single columns: which texts mean "missing", and which columns have such codes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from sfumato.patterns import regex
from sfumato.schema.frozen_dict import FrozenDict

_NUMBER = regex(r"([+-]?\d+)(?:\.(\d+))?")
_NUMERAL = regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
# Maximum number of decimals. Three digits after a mark may be thousands, except in a column of decimals.
_MOST_DECIMALS, _THOUSANDS = 38, 3
_DAY, _MIDNIGHT = regex(r"\d{4}-\d\d-\d\d"), regex(r"(\d{4}-\d\d-\d\d)[ T]00:00(?::00(?:\.0+)?)?")


class HasCodes(Protocol):
    """The part of a plan's column with codes for missing values."""

    @property
    def missing(self) -> tuple[str, ...]: ...


def codes_of(columns: Mapping[str, HasCodes]) -> FrozenDict[tuple[str, ...]]:
    """The codes of the columns that name some."""
    return FrozenDict({name: column.missing for name, column in columns.items() if column.missing})


def code_texts(codes: Iterable[str], decimals: bool = False) -> tuple[str, ...]:
    """Return the texts that codes may appear as: a number with zeros after the decimal mark, a day with midnight.

    Columns of numbers with gaps become such of decimals in some programs: 99 is 99.0 there. Others know no days without
    a time.

    >>> [text in code_texts(["99"]) for text in ("99", "99.0", "99,00", "99.000", "99.0000", "990")]
    [True, True, True, False, True, False]
    >>> code_texts(["refused", "1900-01-01"])
    ('refused', '1900-01-01', '1900-01-01 00:00:00', '1900-01-01T00:00:00')

    Args:
        decimals: Whether the column holds decimals, so that a point is never a thousands separator.
    """
    return tuple(dict.fromkeys(text for code in codes for text in (code, *_spellings(code, decimals))))


def code_numbers(codes: Iterable[str]) -> tuple[float, ...]:
    """The codes that are numbers.

    >>> code_numbers(["99", "refused", "-1.125", "1e16"])
    (99.0, -1.125, 1e+16)
    """
    return tuple(float(code) for code in codes if _NUMERAL.fullmatch(code))


def _spellings(code: str, decimals: bool) -> Iterator[str]:
    """Yield further ways in which a code may be written."""
    if _NUMERAL.fullmatch(code):
        yield repr(float(code))  # 10000000000000000 is 1e+16
    if number := _NUMBER.fullmatch(code):
        yield from _decimals(number[1], (number[2] or "").rstrip("0"), decimals)
    if day := _MIDNIGHT.fullmatch(code):
        yield day[1]
    if day or _DAY.fullmatch(code):
        yield from (f"{day[1] if day else code}{midnight}" for midnight in (" 00:00:00", "T00:00:00"))


def _decimals(whole: str, fraction: str, decimals: bool) -> Iterator[str]:
    """Yield a number without decimal mark, if possible, and with each number of zeros after one."""
    if not fraction:
        yield whole
    for mark in ".,":
        for size in range(max(len(fraction), 1), _MOST_DECIMALS + 1):
            if size != _THOUSANDS or len(fraction) == size or (decimals and mark == "."):
                yield f"{whole}{mark}{fraction.ljust(size, '0')}"
