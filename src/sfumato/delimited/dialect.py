"""The dialect of a delimited file (separator, quote, encoding, header, decimal mark), and errors of such files."""

import codecs
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.patterns import regex
from sfumato.values import Value

# Blanks, and other separators of thousands except points and commas; they are never decimal marks.
_BLANKS = " \u00a0\u202f"
_GAPS = f"{_BLANKS}\u2009'\u2019"

# A currency sign before a number, with up to two letters of the country before the sign: R$ 12, US$12, ₺12.
CURRENCY_SIGN = "[A-Z]{0,2}[€$£¥₺₽₹₴₪]"

# A number with a decimal comma, and with points or gaps between thousands. A currency may precede it, and a unit may
# follow it. Statements for databases use the same pattern, which must match the whole text.
_BEFORE_COMMA = f"[0-9]+|[0-9]{{1,3}}([{_GAPS}][0-9]{{3}})+"
COMMA_NUMBER = (
    f"({CURRENCY_SIGN}[{_BLANKS}]?|[A-Z]{{3}}[{_BLANKS}])?[+-]?"
    f"([0-9]{{1,3}}([.][0-9]{{3}})+(,[0-9]+)?|({_BEFORE_COMMA}),[0-9]+([eE][+-]?[0-9]+)?)"
    rf"([{_BLANKS}]?[%‰€$£°₺₽₹₴₪]|[{_BLANKS}][^0-9.,\s]{{1,8}}|m²|km/h)?"
)

_COMMA_NUMBER = regex(COMMA_NUMBER)

# Numbers with a point or comma before every three digits, and numbers without.
_THOUSANDS = regex(r"[+-]?[1-9][0-9]{0,2}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_WHOLE = regex(r"[+-]?[0-9]+")
_NUMBER = regex(r"[+-]?[0-9][0-9.,]*")

# Numbers with gaps between thousands and an optional decimal fraction.
_GROUPED = regex(rf"([+-]?[0-9]{{1,3}}([{_GAPS}])[0-9]{{3}}(?:\2[0-9]{{3}})*)([.][0-9]+)?")

_POINTS = str.maketrans({",": ".", ".": None})


def with_points(fields: Iterable[str]) -> list[str]:
    """Convert fields of a file with decimal commas to decimal points, without separators of thousands.

    >>> with_points(["3,5", "-1,2e3", "1.234,5", "€ 1.200", "7,5 %", "a,b", "31.12.2024"])
    ['3.5', '-1.2e3', '1234.5', '€ 1200', '7.5 %', 'a,b', '31.12.2024']

    A number directly followed by letters is a text, which remains unchanged:

    >>> with_points(["4,5h", "4,5 h"])
    ['4,5h', '4.5 h']

    Gaps between thousands remain, because amounts are parsed with them:

    >>> with_points(["1 234,50 €", "12 34,5"])
    ['1 234.50 €', '12 34,5']
    """
    return [field.translate(_POINTS) if _COMMA_NUMBER.fullmatch(field.strip()) else field for field in fields]


def thousands_mark(texts: Iterable[str]) -> str | None:
    """Return the mark of a column's numbers if it may separate thousands; it may also be the decimal mark.

    None if no number has a mark, or if a mark is not followed by groups of exactly three digits.

    >>> thousands_mark(["1.204", "3", "Ulm"]), thousands_mark(["1,204,310", "12"]), thousands_mark(["1.204", "4310"])
    ('.', ',', '.')
    >>> thousands_mark(["1.204", "3.5"]), thousands_mark(["0.204"])
    (None, None)
    """
    numbers = [text.strip() for text in texts if _NUMBER.fullmatch(text.strip())]
    marked = [_THOUSANDS.fullmatch(text) for text in numbers if not _WHOLE.fullmatch(text)]
    marks = {match[1] if match else None for match in marked}
    return marks.pop() if len(marks) == 1 else None


def without_gaps(text: str) -> str:
    """Return a number without the blanks or apostrophes between its thousands; any other text unchanged.

    >>> without_gaps("1'204"), without_gaps("1 204 310.5"), without_gaps("12 40"), without_gaps("1 204,5")
    ('1204', '1204310.5', '12 40', '1 204,5')
    """
    match = _GROUPED.fullmatch(text.strip())
    return text if match is None else match[1].replace(match[2], "") + (match[3] or "")


SEPARATORS = ",;\t|"

DecimalMark = Literal[".", ","]


class Dialect(Value):
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
        PlanError: The name is not that of a text encoding.
    """
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # fails for codecs of bytes, such as Base64
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


def empty(name: str) -> DataError:
    """Return the error for an empty file."""
    return DataError("empty.empty", name=name)


def ragged(line: int | str | None = None, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a row with a different number of fields; line and column if they are known."""
    return _placed(DataError("ragged"), line, name, column)


def title_line(name: str, header: int | None = None) -> DataError:
    """Return the error for a file with titles above its header, and the line of the header if it is known."""
    do = Message("error.part.delete_title")
    if header:
        do = Message("sentences", parts=(Message("hint.column_names_in_line", line=header), do))
    return DataError("title", hint=do, name=name)


def open_quote(line: int | str, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a quote that is not closed, or closed before the field ends."""
    return _placed(DataError("quotes"), line, name, column)


def mixed_line_ends(name: str, line: int, end: str, first: str) -> DataError:
    """Return the error for mixed line endings, which readers interpret differently."""
    return DataError("line-ends", line=line, name=name, end=end, first=first)


def _placed(error: DataError, line: int | str | None, name: str, column: int | None) -> DataError:
    """Return an error with its position, as far as it is known."""
    if column and line:
        return error.at(name, int(line), column)
    if line and name:
        return error.with_text(Message("located.line_of_file", message=error.message, line=line, name=name))
    if line:
        return error.with_text(Message("located.line", message=error.message, line=line))
    return error.with_text(Message("located.file", message=error.message, name=name)) if name else error


def damaged(path: Path) -> DataError:
    """Return the error for a file that is damaged or of another format."""
    return DataError("unreadable.unreadable", name=path.name)


def wrong_encoding(encoding: str, likely: str = "cp1252 (Windows, Western Europe)") -> DataError:
    """Return the error for a text that is not in the given encoding, with a likely one."""
    return DataError("encoding.wrong_encoding", name=encoding.upper(), likely=likely)
