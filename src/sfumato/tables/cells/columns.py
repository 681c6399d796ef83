"""The input of a table: named columns of plain values, read from a CSV file or provided by an engine."""

import math
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from sfumato.delimited.dialect import Dialect, title_line
from sfumato.delimited.header import header_below, is_title_row
from sfumato.delimited.opening import open_text
from sfumato.delimited.records import plain_cell, read_lines
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.localization.messages import Message
from sfumato.tables.cells.system import Numbers, Places
from sfumato.values import Value

_PLAIN = re.compile(r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$")
# Number of lines searched for a header below title lines.
FIRST_LINES = 20
# Integers are exact in floating point up to this.
EXACT_WHOLE = 2.0**53


class TextColumns(Value):
    """Named columns of equal length; every value is text as in a CSV file, empty if missing."""

    texts: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(next(iter(self.texts.values()), ()))

    def __contains__(self, name: object) -> bool:
        return name in self.texts

    def rows(self, places: Places) -> "TextColumns":
        """Return some of the rows."""
        return TextColumns({name: tuple(texts[place] for place in places) for name, texts in self.texts.items()})

    def text(self, name: str) -> tuple[str, ...]:
        """Return a column as text.

        Raises:
            PlanError: There is no such column.
        """
        if name not in self.texts:
            raise PlanError("no-column.no_column", hint=did_you_mean(name, self.texts), name=name)
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
            raise DataError("too-great.column_holds_beyond", column=name, row=large[0]).about(column=name, rows=large)
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
                "not-a-number",
                message=Message("error.data.not-a-number.in_rows", column=name, row=wrong[0], more=len(wrong) - 1),
                hint=Message("hint.finite_cells"),
            ).about(values=[self.texts[name][place - 1] for place in wrong], column=name, rows=wrong)
        return np.array(read, np.float64)


def _number(text: str) -> float:
    value = finite(text)
    return math.nan if value is None else value


def read_columns(path: Path, dialect: Dialect | None = None, published: bool = False) -> TextColumns:
    """Read the columns of a CSV file; the separator is guessed from the header unless the dialect has one.

    Args:
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
        raise DataError("empty.holds_no_cells", name=path.name)
    if len(set(header)) < len(header):
        place = next(place for place, name in enumerate(header, start=1) if name in header[: place - 1])
        raise DataError("duplicate-columns.twice_header").at(path.name, 1, place)
    return TextColumns(dict(zip(header, zip(*rows, strict=True), strict=True)))


def _header_below(path: Path, dialect: Dialect) -> int | None:
    """Return the line of the header if titles precede it, by the first lines."""
    with open_text(path, dialect.encoding) as stream:
        return header_below([*islice(stream, FIRST_LINES)], dialect)


def finite(text: str) -> float | None:
    """Parse a finite number; return None if the text is not one or exceeds the range of floats.

    >>> finite("12.5"), finite("1e3"), finite("1e400"), finite("nan"), finite("1_000")
    (12.5, 1000.0, None, None, None)
    """
    # Python also reads 1_000 and digits of other scripts, which other programs may not.
    if not _PLAIN.match(text):
        return None
    value = float(text.strip())  # the pattern allows spaces that float() rejects
    return value if math.isfinite(value) else None
