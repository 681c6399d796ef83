"""What to do about the cell properties of a sheet: refuse it, warn, or read values differently."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.engines.workbooks.archive import opened
from sfumato.engines.workbooks.cell_references import Mark, Merged, Place, listed, name_of
from sfumato.engines.workbooks.ods import CONTENT, marks_in_ods
from sfumato.engines.workbooks.xlsx import BOOK, marks_in_xlsx
from sfumato.errors import DataError
from sfumato.localization.messages import Message

ERRORS = "{count} {count:cell holds an error|cells hold errors} ({places}), read as missing."


@dataclass(frozen=True, slots=True)
class MarkedSheet:
    """The notes on a sheet and its merged cells.

    Attributes:
        notes: Notes on the sheet for data users.
        merged: The merged cells, as far as the marks contain them.
    """

    notes: tuple[str, ...] = ()
    merged: tuple[Merged, ...] = ()


def take_marks(path: Path, sheet: str, start: Place, cells: list[list[Any]]) -> MarkedSheet:
    """Read the marks of a sheet, and replace numbers in its cells by their displayed texts with leading zeros.

    Args:
        path: The workbook.
        sheet: The name of the sheet.
        start: The position of the first cell.
        cells: The values of the sheet.

    Raises:
        DataError: Formulas have no value (the text says where), or the file cannot be read.
    """
    uncomputed, errors, merged = [], [], []
    for mark in _marks(path, sheet):
        if mark.kind == "uncomputed":
            uncomputed.append(name_of(mark.place))
        elif mark.kind == "error":
            errors.append(name_of(mark.place))
        elif mark.kind == "merged":
            merged.append((mark.place, mark.last))
        else:
            _show(mark, start, cells)
    if uncomputed:
        raise DataError("uncomputed-formulas", places=listed(uncomputed))
    notes = (Message("note.sheet_errors", count=len(errors), places=listed(errors)),) if errors else ()
    return MarkedSheet(notes, tuple(merged))


def _show(mark: Mark, start: Place, cells: list[list[Any]]) -> None:
    """Write a number as displayed, with its repetitions within the cells."""
    (top, left), (bottom, right) = mark.place, max(mark.place, mark.last)
    for row in cells[max(top - start[0], 0) : max(bottom + 1 - start[0], 0)]:
        for column in range(max(left - start[1], 0), min(right + 1 - start[1], len(row))):
            row[column] = mark.text


def _marks(path: Path, sheet: str) -> Iterator[Mark]:
    """Yield the marks of a sheet; none for files without XML, which are those from before 2007 and .xlsb."""
    with opened(path) as archive:
        if archive is not None and BOOK in archive:
            yield from marks_in_xlsx(archive, sheet)
        elif archive is not None and CONTENT in archive:
            yield from marks_in_ods(archive, sheet)
