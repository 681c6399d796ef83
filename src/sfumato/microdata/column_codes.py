"""Codes that mean "missing" in one column: which texts they are, and which columns have some."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from sfumato.patterns import regex
from sfumato.shapes.frozen import FrozenDict

# Three digits behind a mark may be thousands.
_NUMBER = regex(r"([+-]?\d+)(?:\.(\d{1,2}))?")
_MOST_DECIMALS = 2


class HasCodes(Protocol):
    """What a plan says of a column."""

    @property
    def missing(self) -> tuple[str, ...]: ...


def codes_of(columns: Mapping[str, HasCodes]) -> FrozenDict[tuple[str, ...]]:
    """The codes of the columns that name some."""
    return FrozenDict({name: column.missing for name, column in columns.items() if column.missing})


def code_texts(codes: Iterable[str]) -> tuple[str, ...]:
    """The texts that codes may be read as: a number is the same with a decimal mark and zeros behind it.

    Columns of numbers with gaps become such of decimals in some programs: 99 is 99.0 there.

    >>> code_texts(["99"]), code_texts(["99.0"])[:2]
    (('99', '99.0', '99.00', '99,0', '99,00'), ('99.0', '99'))
    >>> code_texts(["refused", "-1.5"])
    ('refused', '-1.5', '-1.50', '-1,5', '-1,50')
    """
    return tuple(dict.fromkeys(text for code in codes for text in _spellings(code)))


def code_numbers(codes: Iterable[str]) -> tuple[float, ...]:
    """The codes that are numbers.

    >>> code_numbers(["99", "refused", "-1.5"])
    (99.0, -1.5)
    """
    return tuple(float(code) for code in codes if _NUMBER.fullmatch(code))


def _spellings(code: str) -> Iterable[str]:
    yield code
    number = _NUMBER.fullmatch(code)
    if number is None:
        return
    whole, decimals = number[1], (number[2] or "").rstrip("0")
    if not decimals:
        yield whole
    for mark in ".,":
        for size in range(max(len(decimals), 1), _MOST_DECIMALS + 1):
            yield f"{whole}{mark}{decimals.ljust(size, '0')}"
