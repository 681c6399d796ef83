"""Merged cells of a workbook: a file holds their value once, and blanks where readers see it repeated."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sfumato.errors import DataError

# Row and column of the first cell and of the last, from 0 on.
Merged = tuple[tuple[int, int], tuple[int, int]]
SHOWN = 3
LETTERS = 26


def check_merged(sheet: Any, cells: Sequence[Sequence[Any]], has_header: bool) -> None:
    """Refuse a sheet whose rows have merged cells with something in them.

    All rows but the first of such cells would lack a value that they have: of a person, of a household, or one that is
    sensitive, which promises then do not count.

    Args:
        sheet: The sheet, which says where cells are merged; files of some kinds do not.
        cells: Its cells, from the first that holds something on.
        has_header: Whether the first row has the names of columns; those beside one another are none of this.

    Raises:
        DataError: There are such cells; the text says where.
    """
    places = [*_in_rows(getattr(sheet, "merged_cell_ranges", None) or (), sheet.start or (0, 0), cells, has_header)]
    if not places:
        return
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    raise DataError(
        f"cells of the sheet are merged ({', '.join(places[:SHOWN])}{more}): only the first of each has its value.",
        "Unmerge them in the spreadsheet and write the value into every row that it is of.",
        "merged-cells",
    )


def _in_rows(
    merged: Iterable[Merged], start: tuple[int, int], cells: Sequence[Sequence[Any]], has_header: bool
) -> Iterator[str]:
    """Where merged cells reach into the rows and hold something, as spreadsheets say it."""
    for (top, left), (bottom, right) in sorted(merged):
        row, column = top - start[0], left - start[1]
        inside = 0 <= row < len(cells) and 0 <= column < len(cells[row])
        if inside and bottom - start[0] >= has_header and cells[row][column] != "":
            yield f"{_letters(left)}{top + 1}:{_letters(right)}{bottom + 1}"


def _letters(column: int) -> str:
    """The letters of a column.

    >>> _letters(0), _letters(25), _letters(26), _letters(701), _letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    above, place = divmod(column, LETTERS)
    return (_letters(above - 1) if above else "") + chr(ord("A") + place)
