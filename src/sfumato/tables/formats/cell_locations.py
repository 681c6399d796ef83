"""Positions of cells in their file, so that errors name line and column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError
from sfumato.tables.argus.file_errors import likely_encoding, lines_of
from sfumato.tables.formats.px import data_places
from sfumato.tables.plan.sections import Dimension, TableSource

_PLACED = re.compile(r"line \d+")
# A line and a column, both from 1.
Place = tuple[int, int]


@contextmanager
def errors_in(path: Path | None, source: TableSource, dimensions: Mapping[str, Dimension]) -> Iterator[None]:
    """Add line and column of the file to errors about rows, if it is a file that people read.

    Raises:
        DataError: The original error, with its position.
    """
    try:
        yield
    except DataError as error:
        place = None if path is None or _PLACED.search(error.message) else _place_of(error, path, source, dimensions)
        if path is not None and place is not None:
            error.at(path.name, *place)
        raise


def _place_of(error: DataError, path: Path, source: TableSource, dimensions: Mapping[str, Dimension]) -> Place | None:
    """Return the position of the first row that an error is about; None if it is unknown."""
    suffix = path.suffix.lower()
    if suffix == ".px":
        return _at(data_places("\n".join(lines_of(path, source.encoding)), path.name), error.rows)
    if suffix in (".tab", ".jj"):
        lines = lines_of(path, source.encoding)
        filled = [(number, 1) for number, line in enumerate(lines, start=1) if line.strip()]
        return _at(filled if suffix == ".tab" else filled[2:], error.rows)
    return _in_lines(error, path, source, dimensions) if suffix in (".csv", ".txt", ".tsv") else None


def _at(places: Sequence[Place], rows: Sequence[int]) -> Place | None:
    return places[rows[0] - 1] if rows and rows[0] <= len(places) else None


def _in_lines(error: DataError, path: Path, source: TableSource, dimensions: Mapping[str, Dimension]) -> Place | None:
    """Return the position in a delimited file with a header: that of the first invalid code if no row is given."""
    encoding = likely_encoding(path, source.encoding)
    lines = read_lines(path, Dialect(source.separator, encoding=encoding))
    if len(lines) < 2:
        return 1, 1
    header = lines.pop(0)
    names = [text.strip() for text in header.fields]
    wanted = {name for one in dimensions.values() for name in (one.levels or (one.column or "",))}
    if not wanted <= set(names):
        return None
    column = names.index(error.column) if error.column in names else 0
    if error.rows:
        return _at([(line.number, column + 1) for line in lines], error.rows)
    wrong = set(map(str, error.values)) if error.column in names else set()
    return next(((line.number, column + 1) for line in lines if line.fields[column].strip() in wrong), None)
