"""The input of a table: named columns of plain values, read from a CSV file or provided by an engine."""

import math
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import Dialect
from sfumato.delimited.errors import place_in, title_line
from sfumato.delimited.formulas import plain_cell
from sfumato.delimited.opening import open_text
from sfumato.delimited.records import read_lines
from sfumato.delimited.title_rows import header_below, is_title_row
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.cells.number_parsing import finite

# Number of lines searched for a header below title lines.
FIRST_LINES = 20
# Integers are exact in floating point up to this.
EXACT_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True)
class Columns:
    """Named columns of equal length; every value is text as in a CSV file, empty if missing."""

    texts: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(next(iter(self.texts.values()), ()))

    def __contains__(self, name: object) -> bool:
        return name in self.texts

    def rows(self, places: Places) -> "Columns":
        """Return some of the rows."""
        return Columns({name: tuple(texts[place] for place in places) for name, texts in self.texts.items()})

    def text(self, name: str) -> tuple[str, ...]:
        """Return a column as text.

        Raises:
            PlanError: There is no such column.
        """
        if name not in self.texts:
            raise PlanError(f'the table has no column "{name}".', did_you_mean(name, self.texts), "no-column")
        return self.texts[name]

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers; every value must be one.

        Raises:
            DataError: A value is missing, is not a number, or is too large to be added exactly; `rows` gives the
                rows.
        """
        numbers = self._numbers(name, missing=False)
        large = (np.flatnonzero(np.abs(numbers) > EXACT_WHOLE) + 1).tolist()
        if large:
            raise DataError(
                f'column "{name}" holds a number beyond 9,007,199,254,740,992 in row {large[0]}.',
                "Sums of such numbers are not exact. Count in a larger unit.",
                "too-great",
                column=name,
                rows=large,
            )
        return numbers

    def optional(self, name: str) -> Numbers:
        """Return a column as numbers, NaN if empty.

        Raises:
            DataError: A text is not a number; `rows` gives the rows.
        """
        return self._numbers(name, missing=True)

    def _numbers(self, name: str, missing: bool) -> Numbers:
        texts = self.text(name)
        read = [_number(text) for text in texts]
        wrong = [place + 1 for place, value in enumerate(read) if math.isnan(value) and (texts[place] or not missing)]
        if wrong:
            raise DataError(
                f'column "{name}" holds something that is not a number in row {wrong[0]}'
                + (f" and {len(wrong) - 1} more." if len(wrong) > 1 else "."),
                "Every cell needs a finite number: the true one if it was suppressed, with flags in another column.",
                "not-a-number",
                column=name,
                rows=wrong,
                values=[self.texts[name][place - 1] for place in wrong],
            )
        return np.array(read, np.float64)


def _number(text: str) -> float:
    value = finite(text)
    return math.nan if value is None else value


def read_columns(path: Path, dialect: Dialect | None = None, published: bool = False) -> Columns:
    """Read the columns of a CSV file; the separator is guessed from the header unless the dialect has one.

    Args:
        path: The file.
        dialect: Its dialect.
        published: Whether it is a published file, in which formulas of spreadsheets are escaped.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or has rows of unequal length.
    """
    try:
        plain = plain_cell if published else str
        header, *rows = [[plain(text.strip()) for text in line.fields] for line in read_lines(path, dialect)] or [[]]
    except DataError as error:
        line = _header_below(path, dialect or Dialect()) if error.code == "data.ragged" else None
        if line is not None:
            raise title_line(path.name, line) from None
        raise
    line = _header_below(path, dialect or Dialect()) if len(header) == 1 or is_title_row(header, rows) else None
    if line is not None or is_title_row(header, rows):
        raise title_line(path.name, line)
    if not rows:
        raise DataError(f"{path.name} holds no cells.", "It needs a header and one row for each cell.", "empty")
    if len(set(header)) < len(header):
        place = next(place for place, name in enumerate(header, start=1) if name in header[: place - 1])
        what = "a column name occurs twice in the header."
        do = "Rename one; if names are in two consecutive lines, merge them into one."
        raise DataError(f"{place_in(path.name, 1, place)}{what}", do, "duplicate-columns")
    return Columns(dict(zip(header, zip(*rows, strict=True), strict=True)))


def _header_below(path: Path, dialect: Dialect) -> int | None:
    """Return the line of the header if titles precede it, by the first lines."""
    with open_text(path, dialect.encoding) as stream:
        return header_below([*islice(stream, FIRST_LINES)], dialect)
