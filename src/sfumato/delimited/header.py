"""Read the first lines of a delimited file: detect title lines and the header, and return the column names."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sfumato.delimited.dialect import SEPARATORS, Dialect, empty, open_quote, separator_of, title_line
from sfumato.delimited.opening import first_record, next_lines, open_text
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.patterns import regex
from sfumato.values import Value

# Texts that are often values but no column names: numbers, dates and times, e-mail addresses.
_VALUE = regex(r"[-+]?\d[\d.,:/ T+Z-]*|[^@\s]+@[^@\s]+\.\w+")
# The maximum number of title lines, and the minimum number of columns of a header for titles to be detected.
_MOST_TITLES, _LEAST_WIDTH = 10, 3
# With fewer records, a second header is not distinguished from a row.
_LEAST_ROWS = 3


class Record(Value):
    """The fields of a record, and the line in which it begins."""

    line: int
    fields: list[str]

    @property
    def filled(self) -> int:
        """The number of fields that are not empty."""
        return sum(bool(field.strip()) for field in self.fields)


def records_of(lines: Iterable[str], separator: str, quote: str) -> list[Record]:
    """Return the records of some lines up to the first error, which is reported when all records are read."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote)
    records, line = list[Record](), 1
    try:
        for fields in reader:
            records += [Record(line, fields)] if fields else []
            line = reader.line_num + 1
    except csv.Error:
        return []
    return records


def header_below(lines: Sequence[str], dialect: Dialect) -> int | None:
    """Return the line of the header if the first lines are titles above it, else None.

    A title without separators has one field, while the header and all rows have several. A title with separators fills
    fewer fields than the rows. As a header without a name for its first column does so, too, lines above are then taken
    for titles only if the header has names above numbers.

    >>> rows = ["name;age;town", "Ada;36;Ulm", "Max;41;Bonn"]
    >>> header_below(["Members, as of 2024", *rows], Dialect()), header_below(rows, Dialect())
    (2, None)
    >>> header_below(["Members; all", "", "Source: office", *rows], Dialect())
    4
    """
    places = list[int]()
    for separator in dialect.separator or SEPARATORS:
        records = records_of(lines, separator, dialect.quote)
        if records and records[0].filled > 1 and len({len(record.fields) for record in records}) == 1:
            return None
        place = _place_of_header(records)
        places += [records[place].line] if place else []
    return min(places, default=None)


def _place_of_header(records: Sequence[Record]) -> int:
    """Return the index of the header below titles; 0 if there are none."""
    width = len(records[-1].fields) if records else 0
    place = next((at for at in range(len(records), 0, -1) if len(records[at - 1].fields) != width), 0)
    while place < len(records) and records[place].filled <= 1:
        place += 1
    titles, rows = records[:place], records[place:]
    if not titles or len(titles) > _MOST_TITLES or width < _LEAST_WIDTH or len(rows) < 2:
        return 0
    alone = all(record.filled <= 1 for record in titles)
    fewer = all(record.filled <= 1 or len(record.fields) < width for record in titles)
    return place if alone or (fewer and _has_names(rows)) else 0


def _has_names(rows: Sequence[Record]) -> bool:
    """Return whether the first of some rows is a header: it has a word in a column of numbers or dates."""
    columns = zip(*(row.fields for row in rows), strict=True)
    return any(any(values) and all(map(is_value, values)) and not is_value(name) for name, *values in columns)


def is_title_row(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a sheet is a title or blank; rows below it fill several more fields.

    >>> is_title_row(["Members", "", ""], [["", "", ""], ["name", "age", "town"], ["Ada", "36", "Ulm"]])
    True
    """
    filled = [sum(bool(field.strip()) for field in row) for row in (fields, *sample)]
    return filled[0] <= 1 and max(filled) > 2


def is_value(text: str) -> bool:
    """Return whether a text is a value rather than a column name; an empty text may be one, too."""
    return not text or _VALUE.fullmatch(text.strip()) is not None


# Number of records examined to decide whether the first line is a header.
SAMPLED_RECORDS = 200

LINE_BREAK = regex(r"\r\n|\r|\n")


class Head(Value):
    """The head of a file: the column names, the separator, notes for data users, and the number of header lines."""

    columns: tuple[str, ...]
    separator: str
    notes: tuple[Message, ...] = ()
    lines: int = 1


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
    fields = [name.strip() for name in fields] if dialect.strip else fields
    if is_second_header(fields, sample):
        columns, notes = _renamed(_joined_names(fields, sample))
        return Head(columns, separator, (Message("note.second_header"), *notes), 2)
    columns, notes = header_of(fields, sample, dialect, names)
    return Head(columns, separator, notes, int(dialect.header is not False))


def is_second_header(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Return whether the first record below a header continues it: with units, or with answers below their question.

    It contains no number or date, and either texts in at least two columns of numbers or dates, or names for columns
    that have none, and below other names one text that no row has, such as "Response".

    >>> rows = [["Ada", "36", "1.7"], ["Max", "41", "1.8"]]
    >>> is_second_header(["name", "age", "height"], [["", "years", "m"], *rows])
    True
    >>> is_second_header(["name", "age", "height"], [["Eva", "", ""], *rows])
    False
    """
    if len(sample) < _LEAST_ROWS or any(len(record) != len(fields) for record in sample):
        return False
    if any(text.strip() and is_value(text) for text in sample[0]):
        return False
    columns = [[text for text in values if text.strip()] for values in zip(*sample[1:], strict=True)]
    valued = [values != [] and all(map(is_value, values)) for values in columns]
    filled = [bool(text.strip()) for text in sample[0]]
    below_numbers = [number and text for number, text in zip(valued, filled, strict=True)]
    if sum(below_numbers) > 1:
        return True
    unnamed = [text for name, text in zip(fields, filled, strict=True) if not name.strip()]
    common = _common_text(fields, sample)
    places = [place for place, text in enumerate(sample[0]) if text == common]
    certain = sum(unnamed) > 1 or any(below_numbers[place] for place in places)
    return bool(common) and 2 * sum(unnamed) > len(unnamed) and certain


def _common_text(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> str:
    """Return the text that the first record has below several names, if no row has it there; empty if there is none."""
    named = [place for place, name in enumerate(fields) if name.strip()]
    texts = Counter(sample[0][place] for place in named if sample[0][place].strip())
    for text, count in texts.most_common(1):
        below = {record[place] for record in sample[1:] for place in named if sample[0][place] == text}
        return text if count > 1 and text not in below else ""
    return ""


def _joined_names(fields: Sequence[str], sample: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of two header lines: the second one's for columns without a name, and for the first of these."""
    common, names = _common_text(fields, sample), list[str]()
    for place, (name, text) in enumerate(zip(fields, sample[0], strict=True)):
        begins = place + 1 < len(fields) and not fields[place + 1].strip() and text.strip() and text != common
        names.append(text if begins or not name.strip() else name)
    return names


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
    """Return the next records up to the first error, which is reported when all records are read."""
    return [record.fields for record in records_of(lines, separator, quote)]


def header_of(
    fields: Sequence[str], sample: Sequence[Sequence[str]], dialect: Dialect, names: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
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

    This is so if its fields occur again as values of their columns, or if they are values in all columns with numbers,
    dates or e-mail addresses. A header with names such as 1990, 2000, … next to names in words is accepted. If numeric
    columns have names in words, as many others may occur among the values of their columns: airbag is "airbag" or not.

    >>> looks_like_data(["Ada", "36"], [["Max", "41"]]), looks_like_data(["name", "age"], [["Max", "41"]])
    (True, False)
    >>> looks_like_data(["age", "day", "airbag", "dead"], [["36", "9", "airbag", "dead"], ["41", "8", "", ""]])
    False
    """
    rows = [record for record in sample if [*record] != [*fields]]  # files joined with their headers repeat them
    columns = [[record[place] for record in rows if place < len(record)] for place in range(len(fields))]
    repeated = sum(bool(field) and field in values for field, values in zip(fields, columns, strict=True))
    pairs = [pair for pair in zip(fields, columns, strict=True) if pair[0].strip()]  # row names have none
    valued = [field for field, values in pairs if values and all(map(is_value, values))]
    if not valued or any(map(is_value, valued)):
        return repeated > 0 or (bool(valued) and all(map(is_value, valued)))
    return repeated > len(valued)


def _renamed(fields: Sequence[str]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """Return distinct names, with a note on each change.

    The second of two equal names becomes name_2, and so on. A column without a name, such as the row numbers written
    with a frame, is named by its position as in a file without a header.

    >>> _renamed(["zip", "age", "zip"])[0], _renamed(["", "age"])[0]
    (('zip', 'age', 'zip_2'), ('c1', 'age'))
    """
    taken, names, notes = set(fields), dict[str, None](), list[Message]()
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
