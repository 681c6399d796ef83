"""The one reader of delimited files: encoding, separator, quotes, header, gzip, and what can be wrong with them.

Small files (tables, hierarchies, records) are read here; of large ones the head is, and an engine reads the rows by the
dialect that was decided here.
"""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Literal

from sfumato.errors import DataError, EngineError, PlanError

SEPARATORS = ",;\t|"
# So many records tell whether the first line is a header.
SAMPLED_RECORDS = 200
LINE_BREAK = re.compile(r"\r\n|\r|\n")
# What a name of a column is not, but a value often is: numbers, dates and times, addresses of mail.
_VALUE = re.compile(r"[-+]?\d[\d.,:/ T+Z-]*|[^@\s]+@[^@\s]+\.\w+")
# A field may be as long as a text is; Python's own limit is 128 KiB.
csv.field_size_limit(1 << 30)


DecimalMark = Literal[".", ","]
# A number whose decimal mark is a comma, points between its thousands, perhaps with a currency before or a unit behind
# it; the same for databases, which match whole texts.
COMMA_NUMBER = (
    r"([€$£] ?|[A-Z]{3} )?[+-]?([0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?|[0-9]+,[0-9]+([eE][+-]?[0-9]+)?)( ?[^0-9.,\s]{1,8})?"
)
_COMMA_NUMBER = re.compile(COMMA_NUMBER)
_POINTS = str.maketrans({",": ".", ".": None})


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


@dataclass(frozen=True, slots=True)
class Head:
    """What the first records of a file tell: its columns' names, their separator, and what a reader should know."""

    columns: tuple[str, ...]
    separator: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A record, and the number of the line at which it ends."""

    number: int
    fields: list[str]


def check_separator(separator: str | None) -> None:
    """Refuse what cannot stand between fields; None is found out from the header.

    Raises:
        PlanError: It is not one character, or one that has another meaning.
    """
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise PlanError(
            "the separator must be one character, neither a quote nor a line break.",
            "For example ; or , or a tab.",
            "separator",
        )


def read_head(path: Path, dialect: Dialect, names: Sequence[str] = ()) -> Head:
    """The head of a file.

    Args:
        names: The columns' names when it has no header; c1, c2, … where none are given.

    Raises:
        DataError: The file is empty or not in its encoding, or has other columns than are named.
        PlanError: The first line looks like data.
    """
    with open_text(path, dialect.encoding) as stream:
        record = first_record(stream, dialect.quote)
        if not record.strip():
            raise empty(path.name)
        following = [] if dialect.header is False else _following(stream)
        if is_title(record, following, dialect):
            raise title_line(path.name)
        separator = _separator(dialect, record, following)
        fields = _fields(record, separator, dialect.quote, path.name)
        sample = [] if dialect.header is not None else _sample(following, separator, dialect.quote)
    columns, notes = header_of([name.strip() for name in fields] if dialect.strip else fields, sample, dialect, names)
    return Head(columns, separator, notes)


def _fields(record: str, separator: str, quote: str, name: str) -> list[str]:
    """The fields of a file's first record."""
    content = record.rstrip("\r\n")
    try:
        fields = next(csv.reader([content], delimiter=separator, quotechar=quote))
    except csv.Error:  # a quote that begins within a field spans a line break
        raise open_quote(1, name) from None
    if record.count(quote) % 2 and "\n" in content:
        raise open_quote(1, name)  # all that follows was taken for the header
    inner = {match for field in fields for match in LINE_BREAK.findall(field)}
    if inner - {record[len(content) :]}:
        what = "the name of a column holds another kind of line break than the lines end with."
        raise DataError(what, "Write each name in one line.", "header-line-break")
    return fields


def _following(stream: IO[str]) -> list[str]:
    """The next lines."""
    return list(islice(stream, SAMPLED_RECORDS))


def _sample(lines: Iterable[str], separator: str, quote: str) -> list[list[str]]:
    """The next records, as far as they can be read; what is wrong with them is said by whoever reads all."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        return [fields for fields in reader if fields]
    except csv.Error:
        return []


def is_title(record: str, following: Sequence[str], dialect: Dialect) -> bool:
    """Whether the first record is a title above the header: it fills one field where all others fill several.

    >>> is_title("Members, as of 2024", ["name;age;town", "Ada;36;Ulm", "Max;41;Bonn"], Dialect())
    True
    >>> is_title("name;age;town", ["Ada;36;Ulm", "Max;41;Bonn"], Dialect())
    False
    """
    titles = False
    for separator in dialect.separator or SEPARATORS:
        widths = {len(fields) for fields in _sample(following, separator, dialect.quote)}
        first = next(iter(_sample([record], separator, dialect.quote)), [])
        filled = sum(bool(field.strip()) for field in first)
        if filled > 1 and {len(first)} == widths:
            return False
        titles |= (
            filled <= 1
            and len(following) > 1
            and len(widths) == 1
            and len(first) in (0, 1, *widths)
            and min(widths) > 2
        )
    return titles


def header_of(
    fields: Sequence[str], sample: Sequence[Sequence[str]], dialect: Dialect, names: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns' names from the first record, and notes on them.

    Args:
        sample: Records that follow.
        names: The columns' names when there is no header.

    Raises:
        DataError: There is no header, and other columns are named than there are.
        PlanError: The first record looks like data.
    """
    if dialect.header is False:
        if names and len(names) != len(fields):
            raise DataError(
                f"the file has {len(fields)} columns and no header, the plan names {len(names)}.",
                "Name them all, in order.",
                "columns",
            )
        return tuple(names) or tuple(f"c{place + 1}" for place in range(len(fields))), ()
    if dialect.header is None and looks_like_data(fields, sample):
        raise PlanError(
            "the first line looks like data, not like names: has the file a header?",
            "Say data.header: false, or --no-header, where it has none; data.header: true where these are its names.",
            "header",
            values=tuple(fields),
        )
    return _renamed(fields)


def looks_like_data(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Whether the first record is likely no header.

    It repeats in its columns, or is a value in all columns that hold numbers, dates or addresses. A table whose columns
    are called 1990, 2000, … beside some with a name in words passes. Where a column of numbers has a name in words, one
    other name may stand among the values of its column by chance.

    >>> looks_like_data(["Ada", "36"], [["Max", "41"]]), looks_like_data(["name", "age"], [["Max", "41"]])
    (True, False)
    """
    columns = [[record[place] for record in sample if place < len(record)] for place in range(len(fields))]
    repeated = sum(bool(field) and field in values for field, values in zip(fields, columns, strict=True))
    valued = [field for field, values in zip(fields, columns, strict=True) if values and all(map(_is_value, values))]
    if not valued or any(map(_is_value, valued)):
        return repeated > 0 or (bool(valued) and all(map(_is_value, valued)))
    return repeated > 1


def _is_value(text: str) -> bool:
    return not text or _VALUE.fullmatch(text.strip()) is not None


def _renamed(fields: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that all differ: of equal ones the second is name_2, and so on, with a note on each.

    >>> _renamed(["zip", "age", "zip"])[0]
    ('zip', 'age', 'zip_2')
    """
    taken, names, notes = set(fields), list[str](), list[str]()
    for place, field in enumerate(fields, start=1):
        name, number = field, 1
        while name and name in names:
            number += 1
            name = f"{field}_{number}" if f"{field}_{number}" not in taken else field
        if name != field:
            notes.append(f'Column {place} is called "{field}" like another one: here it is {name}.')
        names.append(name)
    return tuple(names), tuple(notes)


def read_lines(path: Path, dialect: Dialect | None = None) -> list[Line]:
    """All records of a file that has lines of one width; empty lines are none.

    Raises:
        DataError: It is not in its encoding, a quote is not closed, or a line has another width.
        EngineError: The system refuses to read it.
    """
    known = dialect or Dialect()
    with open_text(path, known.encoding) as stream:
        return list(_lines(stream, known, path.name))


def parse_lines(text: str, dialect: Dialect | None = None) -> list[Line]:
    """The same for a text at hand."""
    return list(_lines(io.StringIO(text), dialect or Dialect(), "the text"))


def _lines(stream: IO[str], dialect: Dialect, name: str) -> Iterator[Line]:
    separator = _separator(dialect, first_record(stream, dialect.quote))
    stream.seek(0)
    reader = csv.reader(stream, delimiter=separator, quotechar=dialect.quote, strict=True)
    width = 0
    try:
        for fields in reader:
            width = width or len(fields)
            if fields and len(fields) != width:
                raise ragged(reader.line_num, name)
            if fields:
                yield Line(reader.line_num, with_points(fields) if dialect.decimal == "," else fields)
    except csv.Error:
        raise open_quote(reader.line_num, name) from None


def with_points(fields: Iterable[str]) -> list[str]:
    """Fields of a file whose decimal mark is a comma: its numbers with a point and no marks between thousands.

    >>> with_points(["3,5", "-1,2e3", "1.234,5", "€ 1.200", "7,5 %", "a,b", "31.12.2024"])
    ['3.5', '-1.2e3', '1234.5', '€ 1200', '7.5 %', 'a,b', '31.12.2024']
    """
    return [field.translate(_POINTS) if _COMMA_NUMBER.fullmatch(field.strip()) else field for field in fields]


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


def delimited_text(records: Iterable[Iterable[object]]) -> str:
    """Records as comma-separated text, None as an empty field.

    >>> delimited_text([["name", "note"], ["Ada", "1, 2"]]).splitlines()
    ['name,note', 'Ada,"1, 2"']
    """
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(records)
    return stream.getvalue()


@contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """A text file to be read, unpacked where its name ends in .gz; a mark at its start is taken off.

    Raises:
        PlanError: The encoding is none.
        DataError: The file is not there, is damaged or not in that encoding.
        EngineError: The system refuses.
    """
    name = encoding_of(encoding)
    unpacking = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with unpacking(path, "rt", encoding="utf-8-sig" if name == "utf-8" else encoding, newline="") as stream:
            yield stream
    except UnicodeError:
        raise wrong_encoding(encoding) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise damaged(path) from None
    except OSError as error:
        kind = DataError if isinstance(error, FileNotFoundError) else EngineError
        what = f"the file {path.name} cannot be read: {error.strerror}."
        raise kind(what, "Check the path and its rights.", "unreadable") from None


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
            f'data.encoding: "{name}" is no encoding.', "For example utf-8, latin-1, cp1252.", "encoding"
        ) from None
    return codec.name


def first_record(stream: IO[str], quote: str = '"') -> str:
    """The first record of an open file, line breaks within quotes included."""
    lines = [stream.readline()]
    quotes = lines[0].count(quote)
    while quotes % 2 and (line := stream.readline()):
        lines.append(line)
        quotes += line.count(quote)
    return "".join(lines)


def _separator(dialect: Dialect, record: str, following: Sequence[str] = ()) -> str:
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


def empty(name: str) -> DataError:
    """The error for a file with nothing in it."""
    return DataError(f"the file {name} is empty.", "It needs a header and rows.", "empty")


def ragged(line: int | str | None = None, name: str = "") -> DataError:
    """The error for a row that has not as many fields as the first one; `line` where it is known."""
    return DataError(
        f"a row has too many or too few fields{_where(line, name)}.",
        "Mend the file, or give its separator and quote.",
        "ragged",
    )


def title_line(name: str) -> DataError:
    """The error for a file with a title above its header."""
    return DataError(
        f"line 1 of {name} looks like a title: it fills one field, the lines below it fill several.",
        "Delete what stands above the line with the columns' names, and try again.",
        "title",
    )


def open_quote(line: int | str, name: str = "") -> DataError:
    """The error for a quote that is not closed, or closed before the field ends."""
    return DataError(f"a quote is not closed{_where(line, name)}.", "Mend the file, or give its quote.", "quotes")


def _where(line: int | str | None, name: str) -> str:
    return (f" in line {line}" if line else "") + (f" of {name}" if name else "")


def damaged(path: Path) -> DataError:
    """The error for a file that is broken, or of another format."""
    return DataError(
        f"the file {path.name} cannot be read: it is damaged, or of another format.",
        "Mend the file, or say what it is: data.format.",
        "unreadable",
    )


def wrong_encoding(encoding: str) -> DataError:
    """The error for text that is not in the encoding it should be in."""
    do = (
        "Save it as UTF-8, or say which encoding it has: --encoding cp1252 (Windows, Western Europe), or data.encoding."
    )
    return DataError(f"the file is not {encoding.upper()}.", do, "encoding")
