"""The dialect of a delimited file: separator, quote, encoding, header, decimal mark."""

import codecs
import re
from collections.abc import Sequence
from typing import Literal

from sfumato.dataclass import dataclass
from sfumato.delimited.decimal_marks import COMMA_NUMBER
from sfumato.errors import PlanError

SEPARATORS = ",;\t|"

DecimalMark = Literal[".", ","]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format of a delimited file.

    Attributes:
        separator: The field separator; None if it is to be detected from the first record.
        header: Whether the first record has the column names; None if that is to be detected.
        strip: Whether white space around names is removed.
    """

    separator: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    header: bool | None = None
    strip: bool = False
    decimal: DecimalMark = "."


def check_separator(separator: str | None) -> None:
    """Refuse an invalid separator; None means that it is detected from the header."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise PlanError("separator.separator_sign")


def check_decimal(decimal: str, separator: str | None = None) -> DecimalMark:
    """Check and return the decimal mark of a file, given its separator.

    Raises:
        PlanError: The mark or the separator is invalid, or both are the same.
    """
    check_separator(separator)
    if decimal not in (".", ",") or decimal == separator:
        raise PlanError("decimal")
    return "," if decimal == "," else "."


def encoding_of(name: str) -> str:
    """Return the canonical name of an encoding.

    Raises:
        PlanError: It is no text encoding.
    """
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # Base64 and others are codecs, but of bytes
    except (LookupError, ValueError):
        raise PlanError("encoding.no_encoding", name=name) from None
    return codec.name


def separator_of(dialect: Dialect, record: str, following: Sequence[str] = ()) -> str:
    """Return the given separator, or the one detected from a file's first record.

    A comma may be both separator and decimal mark if numbers are quoted, as the following lines show.
    """
    separator = dialect.separator or likely_separator(record)
    quoted = re.compile(f"{re.escape(dialect.quote)}{COMMA_NUMBER}{re.escape(dialect.quote)}")
    if dialect.decimal != separator or not any(map(quoted.search, following)):
        check_decimal(dialect.decimal, separator)
    return separator


def likely_separator(record: str) -> str:
    """Return the separator that occurs most often in the first record of a file.

    >>> likely_separator("name;age, in years;sex")
    ';'
    """
    return max(SEPARATORS, key=record.count)
