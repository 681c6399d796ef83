"""The head of a delimited file: the column names, and whether the first line is a header at all."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import Dialect, separator_of
from sfumato.delimited.errors import empty, open_quote, title_line
from sfumato.delimited.opening import first_record, next_lines, open_text
from sfumato.delimited.title_rows import header_below, is_value, records_of
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.patterns import regex

# Number of records examined to decide whether the first line is a header.
SAMPLED_RECORDS = 200

LINE_BREAK = regex(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file: the column names, the separator, and notes for data users."""

    columns: tuple[str, ...]
    separator: str
    notes: tuple[str, ...] = ()


def read_head(path: Path, dialect: Dialect, names: Sequence[str] = ()) -> Head:
    """Read the head of a file.

    Args:
        names: The column names if it has no header; by default c1, c2, ….

    Raises:
        DataError: The file is empty, not in its encoding, or has a different number of columns.
        PlanError: The first line looks like data.
    """
    with open_text(path, dialect.encoding) as stream:
        record = first_record(stream, dialect.quote)
        if not record.strip():
            raise empty(path.name)
        following = next_lines(stream, SAMPLED_RECORDS)
        line = None if dialect.header is False else header_below([*record.splitlines(True), *following], dialect)
        if line is not None:
            raise title_line(path.name, line)
        separator = separator_of(dialect, record, following)
        fields = _fields(record, separator, dialect.quote, path.name)
        sample = [] if dialect.header is not None else _sample(following, separator, dialect.quote)
    columns, notes = header_of([name.strip() for name in fields] if dialect.strip else fields, sample, dialect, names)
    return Head(columns, separator, notes)


def _fields(record: str, separator: str, quote: str, name: str) -> list[str]:
    """Parse the fields of a file's first record."""
    content = record.rstrip("\r\n")
    try:
        fields = next(csv.reader([content], delimiter=separator, quotechar=quote))
    except csv.Error:  # a quote that begins within a field spans a line break
        raise open_quote(1, name) from None
    if record.count(quote) % 2 and "\n" in content:
        raise open_quote(1, name)  # the rest of the file was taken for the header
    inner = {match for field in fields for match in LINE_BREAK.findall(field)}
    if inner - {record[len(content) :]}:
        raise DataError("header-line-break")
    return fields


def _sample(lines: Iterable[str], separator: str, quote: str) -> list[list[str]]:
    """Return the next records as far as they are readable; errors are reported when all records are read."""
    return [record.fields for record in records_of(lines, separator, quote)]


def header_of(
    fields: Sequence[str], sample: Sequence[Sequence[str]], dialect: Dialect, names: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the column names from the first record, and notes on them.

    Args:
        sample: Records that follow.
        names: The column names if there is no header.

    Raises:
        DataError: There is no header, and the number of names differs from that of the columns.
        PlanError: The first record looks like data.
    """
    if dialect.header is False:
        if names and len(names) != len(fields):
            raise DataError("columns.columns_named", count=len(fields), number=len(names))
        return tuple(names) or tuple(f"c{place + 1}" for place in range(len(fields))), ()
    if dialect.header is None and looks_like_data(fields, sample):
        raise PlanError("header").about(values=tuple(fields))
    return _renamed(fields)


def looks_like_data(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Return whether the first record is likely data instead of a header.

    It repeats in its columns, or is a value in all columns with numbers, dates or addresses. A table with columns
    called 1990, 2000, … next to others with names in words is accepted. If a numeric column has a name in words, one
    other name may occur among the values of its column by chance.

    >>> looks_like_data(["Ada", "36"], [["Max", "41"]]), looks_like_data(["name", "age"], [["Max", "41"]])
    (True, False)
    """
    columns = [[record[place] for record in sample if place < len(record)] for place in range(len(fields))]
    repeated = sum(bool(field) and field in values for field, values in zip(fields, columns, strict=True))
    valued = [field for field, values in zip(fields, columns, strict=True) if values and all(map(is_value, values))]
    if not valued or any(map(is_value, valued)):
        return repeated > 0 or (bool(valued) and all(map(is_value, valued)))
    return repeated > 1


def _renamed(fields: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return distinct names, with a note on each change.

    The second of two equal names becomes name_2, and so on. A column without a name, such as the row numbers written
    with a frame, is named by its position as in a file without a header.

    >>> _renamed(["zip", "age", "zip"])[0], _renamed(["", "age"])[0]
    (('zip', 'age', 'zip_2'), ('c1', 'age'))
    """
    taken, names, notes = set(fields), dict[str, None](), list[str]()
    numbers: dict[str, int] = {}  # the last number given to each name
    for place, field in enumerate(fields, start=1):
        unnamed = not field.strip()
        wanted = name = f"c{place}" if unnamed else field
        while name in names or (name in taken and (unnamed or name != field)):
            numbers[wanted] = numbers.get(wanted, 1) + 1
            name = f"{wanted}_{numbers[wanted]}"
        if unnamed:
            notes.append(Message("note.no_name", place=place, name=name))
        elif name != field:
            notes.append(Message("note.equal_names", place=place, field=field, name=name))
        names[name] = None
    return tuple(names), tuple(notes)
