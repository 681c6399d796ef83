"""Titles above the header of a file: find the line that seems to hold the column names."""

import csv
from collections.abc import Iterable, Sequence

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import SEPARATORS, Dialect
from sfumato.patterns import regex

# Texts that are often values but no column names: numbers, dates and times, e-mail addresses.
_VALUE = regex(r"[-+]?\d[\d.,:/ T+Z-]*|[^@\s]+@[^@\s]+\.\w+")
# More lines are no titles; rows of fewer columns may be two names and a remark.
_MOST_TITLES, _LEAST_WIDTH = 10, 3


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a record, and the line in which it begins."""

    line: int
    fields: list[str]

    @property
    def filled(self) -> int:
        """The number of fields that are not empty."""
        return sum(bool(field.strip()) for field in self.fields)


def records_of(lines: Iterable[str], separator: str, quote: str) -> list[Record]:
    """Return the records of some lines as far as they are readable; errors are reported when all records are read."""
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

    A title fills one field, while the header and all rows fill several. A title that contains separators fills fewer
    fields than these. In that case names must be above numbers, because a header may lack the name of its first column.

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
