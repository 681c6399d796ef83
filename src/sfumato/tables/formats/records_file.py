"""Read and write `.asc` files: microdata in fixed or free format, described by metadata."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, wrong
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import Numbers
from sfumato.tables.formats.cells_file import tree_of
from sfumato.tables.formats.metadata import Metadata, Variable
from sfumato.values import Value

# Tags of variables that hold numbers.
_NUMBERS = ("NUMERIC", "WEIGHT", "RECORDKEY")


class Records(Value):
    """The records of a file, with their lines.

    Attributes:
        columns: Every value as text.
        metadata: The description of the columns.
        lines: The line number and text of each record.
    """

    columns: TextColumns
    metadata: Metadata
    name: str
    lines: tuple[tuple[int, str], ...]

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, name: str) -> tuple[str, ...]:
        """Return a variable as text."""
        return self.columns.text(name)

    def numbers(self, one: Variable) -> Numbers:
        """Return a numeric variable, with a decimal point or comma.

        Raises:
            DataError: A value is missing or not a number; the message names line and column.
        """
        return np.array([self.number(one, place, text) for place, text in enumerate(self.text(one.name))], np.float64)

    def number(self, one: Variable, place: int, text: str) -> float:
        """Return a text of a record as a number.

        Raises:
            DataError: The number is missing or invalid, or the line ends within it.
        """
        self.check_whole(one, place)
        if not text or text in one.missing:
            raise self.fault(one, place, "format.missing", column=one.name)
        return number_in(
            text,
            self.name,
            self.lines[place][0],
            self._column(one, place),
            Message("phrase.number_for", column=one.name),
        )

    def check_whole(self, one: Variable, place: int) -> None:
        """Refuse a number that the end of a fixed-format line cuts off, as its value is unknown."""
        number, line = self.lines[place]
        end = one.position + one.length - 1
        if self.metadata.separator is None and len(line) < end:
            raise wrong(
                self.name, number, len(line) + 1, "length.the_line_ends_within_a_number", column=one.name, number=end
            )

    def fault(self, one: Variable, place: int, code: str, /, **values: Any) -> DataError:
        """Return the error for a variable of a record, with its line and column."""
        return wrong(self.name, self.lines[place][0], self._column(one, place), code, **values)

    def _column(self, one: Variable, place: int) -> int:
        separator = self.metadata.separator
        if separator is None:
            return one.position
        return fields_in(self.lines[place][1], separator)[self.metadata.variables.index(one)][1]


def read_records(path: Path, metadata: Metadata) -> Records:
    """Read the records of a file, every value as text.

    Raises:
        DataError: A line is shorter than its variables, or has a wrong number of fields.
    """
    numbered = enumerate(lines_of(path, metadata.encoding), start=1)
    lines = tuple((number, line) for number, line in numbered if line.strip())
    if not lines:
        raise wrong(path.name, 1, 1, "truncated.there_is_no_record")
    _check_places(metadata)
    rows = [_record(line, number, metadata, path.name) for number, line in lines]
    names = [one.name for one in metadata.variables]
    records = Records(TextColumns(dict(zip(names, zip(*rows, strict=True), strict=True))), metadata, path.name, lines)
    _check_end(records)
    _check_numbers(records)
    return records


def _check_places(metadata: Metadata) -> None:
    """Refuse a fixed-format variable without a position."""
    for one in metadata.variables if metadata.separator is None else ():
        if one.position < 1 or one.length < 1:
            raise wrong(metadata.name, one.line, 1, "metadata.has_no_position", column=one.name)


def _check_numbers(records: Records) -> None:
    """Refuse invalid numbers in numeric variables, except codes of missing values, and numbers cut off."""
    for one in records.metadata.variables if records else ():
        for place, text in enumerate(records.text(one.name)) if any(map(one.has, _NUMBERS)) else ():
            records.check_whole(one, place)
            if one.has("NUMERIC") and text and text not in one.missing:
                records.number(one, place, text)


def _check_end(records: Records) -> None:
    """Refuse a last record that lacks the end that all others have: the file is truncated."""
    *before, (number, last) = records.lines
    if len(before) < 2:
        return
    if records.metadata.separator is None:
        lengths = {len(line) for _, line in before}
        cut = len(lengths) == 1 and len(last) < max(lengths)
    else:
        *others, field = records.text(records.metadata.variables[-1].name)
        cut = not field and all(others)
    if cut:
        raise wrong(records.name, number, len(last) + 1, "truncated.last_record")


def _record(line: str, number: int, metadata: Metadata, name: str) -> list[str]:
    if metadata.separator is None:
        return [_fixed(line, number, one, name) for one in metadata.variables]
    fields = [text for text, _ in fields_in(line, metadata.separator)]
    if len(fields) != len(metadata.variables):
        raise wrong(name, number, 1, "length.record", count=len(metadata.variables), number=len(fields))
    for place, (text, one) in enumerate(zip(fields, metadata.variables, strict=True), start=1):
        if one.length and len(text) > one.length and not one.has("NUMERIC") and not one.has("RECORDKEY"):
            start = _start(line, metadata.separator, place)
            raise wrong(name, number, start, "length.field", place=place, column=one.name, number=one.length)
    return fields


def _start(line: str, separator: str, place: int) -> int:
    return fields_in(line, separator)[place - 1][1]


def _fixed(line: str, number: int, one: Variable, name: str) -> str:
    end = one.position + one.length - 1
    if len(line) < one.position or (len(line) < end and one.has("RECODEABLE")):
        raise wrong(name, number, len(line) + 1, "length.the_line_ends_before_which_goes", column=one.name, number=end)
    return line[one.position - 1 : end].strip()


def records_text(columns: TextColumns, metadata: Metadata) -> str:
    """Return records as lines of fixed or free format."""
    rows: Sequence[tuple[str, ...]] = list(zip(*(columns.text(one.name) for one in metadata.variables), strict=True))
    if metadata.separator is not None:
        return "".join(metadata.separator.join(row) + "\n" for row in rows)
    return "".join(_fixed_line(row, metadata) + "\n" for row in rows)


def _fixed_line(row: tuple[str, ...], metadata: Metadata) -> str:
    line = ""
    for text, one in zip(row, metadata.variables, strict=True):
        line = line.ljust(one.position - 1)[: one.position - 1] + text.rjust(one.length)
    return line


def record_tree(records: Records, one: Variable, folder: Path, encoding: str | None) -> CodeTree:
    """Return the hierarchy of a variable.

    Raises:
        DataError: A record has a code that does not fit it; the message names line and column.
    """
    try:
        return tree_of(one, list(records.text(one.name)), folder, encoding)
    except DataError as error:
        if not error.rows or error.code != "data.unknown-code":
            raise
        raise records.fault(one, error.rows[0] - 1, "unknown-code", message=error.message, hint=error.hint) from None
