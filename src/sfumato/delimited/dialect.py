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
    """How a delimited file is written.

    Attributes:
        separator: What stands between fields; found out from the first record when None.
        header: Whether the first record names the columns; None where it is to be found out whether it does.
        strip: Whether white space around names is taken off.
    """

    separator: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    header: bool | None = None
    strip: bool = False
    decimal: DecimalMark = "."


def check_separator(separator: str | None) -> None:
    """Refuse what cannot stand between fields; None is found out from the header.

    Raises:
        PlanError: It is not one character, or one that has another meaning.
    """
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise PlanError(
            "the separator must be one character, neither a quote nor a line break.",
            "For example ; or , or a tab: on the command line --separator tab.",
            "separator",
        )


def check_decimal(decimal: str, separator: str | None = None) -> DecimalMark:
    """A decimal mark of a file, and what stands between its fields.

    Raises:
        PlanError: There is no such mark, it stands between fields, too, or what does cannot.
    """
    check_separator(separator)
    if decimal not in (".", ",") or decimal == separator:
        what = "the decimal mark must be a point or a comma, and another sign than the separator."
        raise PlanError(what, "For example , with the separator ;.", "decimal")
    return "," if decimal == "," else "."


def encoding_of(name: str) -> str:
    """The encoding of a name.

    Raises:
        PlanError: It is none for texts.
    """
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # base64 and the like are codecs, but of bytes
    except (LookupError, ValueError):
        raise PlanError(
            f'encoding: "{name}" is no encoding.', "For example utf-8, latin-1, cp1252.", "encoding"
        ) from None
    return codec.name


def separator_of(dialect: Dialect, record: str, following: Sequence[str] = ()) -> str:
    """What stands between the fields, as a file's first record shows it unless it is said.

    Commas may stand in numbers as well as between fields where numbers are quoted, as the lines that follow show.
    """
    separator = dialect.separator or likely_separator(record)
    quoted = re.compile(f"{re.escape(dialect.quote)}{COMMA_NUMBER}{re.escape(dialect.quote)}")
    if dialect.decimal != separator or not any(map(quoted.search, following)):
        check_decimal(dialect.decimal, separator)
    return separator


def likely_separator(record: str) -> str:
    """The separator that occurs most often in the first record of a file.

    >>> likely_separator("name;age, in years;sex")
    ';'
    """
    return max(SEPARATORS, key=record.count)
