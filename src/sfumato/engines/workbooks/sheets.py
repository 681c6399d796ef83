"""The sheets of a workbook: their names, the cells of the selected one, and what to do about their properties."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import damaged
from sfumato.engines.sql import table_named
from sfumato.engines.workbooks.archive import Mark, Merged, Place, listed, name_of, opened
from sfumato.engines.workbooks.cell_properties import BOOK, CONTENT, marks_in_ods, marks_in_xlsx
from sfumato.engines.workbooks.used_range import check_extent, check_packing
from sfumato.errors import DataError, extra_part
from sfumato.localization.messages import Message, first_names
from sfumato.values import Value

# The maximum size of a cover sheet, which describes the workbook.
_COVER_ROWS, _COVER_WIDTH = 30, 2
# Maximum number of sheet names listed; workbooks may have hundreds.
SHOWN = 12


class Sheet(Value):
    """A sheet of a workbook.

    Attributes:
        start: The position of the first value.
        merged: The merged cells, as far as the reader provides them.
    """

    name: str
    all: tuple[str, ...]
    cells: list[list[Any]]
    start: Place
    merged: tuple[Merged, ...]


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the names of the sheets with cells, without charts.

    Raises:
        DataError: The file cannot be read.
    """
    return tuple(entry.name for entry in _of_cells(_opened(path)))


def read_sheet(path: Path, wanted: str | None) -> Sheet:
    """Read a sheet by its name; by default the first visible one with rows below a header that is no cover.

    Raises:
        DataError: The file cannot be read.
        PlanError: There is no such sheet.
    """
    import python_calamine

    book = _opened(path)
    entries = _of_cells(book)
    names = tuple(entry.name for entry in entries)
    try:
        if wanted is not None:
            return _read(path, book, table_named(wanted, names), names)
        seen = [entry.name for entry in entries if entry.visible == python_calamine.SheetVisibleEnum.Visible]
        return _first_with_rows(_read(path, book, name, names) for name in seen or names)
    except (python_calamine.CalamineError, OSError):
        raise damaged(path) from None


def _first_with_rows(sheets: Iterable[Sheet]) -> Sheet:
    """Return the first sheet with several rows that is no cover; otherwise the first cover, or the fullest sheet."""
    fullest, cover = Sheet("", (), [], (0, 0), ()), None
    for sheet in sheets:
        if len(sheet.cells) > 1 and not _is_cover(sheet):
            return sheet
        cover = cover or (sheet if len(sheet.cells) > 1 else None)
        fullest = max(fullest, sheet, key=lambda one: len(one.cells))
    return cover or fullest


def _is_cover(sheet: Sheet) -> bool:
    """Return whether a sheet is a cover: few rows, with at most two filled cells each."""
    filled = (sum(cell not in ("", None) for cell in row) for row in sheet.cells[: _COVER_ROWS + 1])
    return len(sheet.cells) <= _COVER_ROWS and max(filled, default=0) <= _COVER_WIDTH


def told_of_others(sheet: Sheet) -> str:
    """Return the note for a workbook with several sheets if none was selected."""
    return Message("note.other_sheets", count=len(sheet.all), name=sheet.name, others=_listed(sheet.all, sheet.name))


def _listed(names: Sequence[str], own: str) -> str:
    others = [name for name in names if name != own]
    return first_names([f'"{name}"' for name in others], SHOWN)


def _opened(path: Path) -> Any:
    with extra_part("python-calamine", "excel"):
        import python_calamine
    check_packing(path)
    check_extent(path)
    try:
        return python_calamine.CalamineWorkbook.from_path(str(path))
    except python_calamine.PasswordError:
        raise DataError("locked", name=path.name) from None
    except (python_calamine.CalamineError, OSError):
        raise damaged(path) from None


def _of_cells(book: Any) -> list[Any]:
    import python_calamine

    return [entry for entry in book.sheets_metadata if entry.typ == python_calamine.SheetTypeEnum.WorkSheet]


def _read(path: Path, book: Any, name: str, names: tuple[str, ...]) -> Sheet:
    check_extent(path, name)
    sheet = book.get_sheet_by_name(name)
    merged = getattr(sheet, "merged_cell_ranges", None) or ()
    return Sheet(name, names, sheet.to_python(), sheet.start or (0, 0), tuple(merged))


ERRORS = "{count} {count:cell holds an error|cells hold errors} ({places}), read as missing."


class MarkedSheet(Value):
    """The notes on a sheet and its merged cells.

    Attributes:
        notes: Notes on the sheet for data users.
        merged: The merged cells, as far as the marks contain them.
    """

    notes: tuple[Message, ...] = ()
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
