"""Merged cells of a workbook: a file contains their value once, and blanks where readers see it repeated."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sfumato.engines.workbooks.cell_references import Place, listed, name_of
from sfumato.errors import DataError

# The first and the last cell.
Merged = tuple[Place, Place]


def check_merged(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> None:
    """Refuse a sheet with non-empty merged cells in its rows.

    All rows but the first of such cells would lack a value that they have: a person, a household, or a sensitive value.
    Models would then not count it.

    Args:
        merged: The merged cells of the sheet.
        start: The position of the first non-empty cell.
        cells: The cells, from that one on.
        has_header: Whether the first row has the column names; cells merged within it are accepted.
    """
    places = [*_in_rows(merged, start, cells, has_header)]
    if not places:
        return
    raise DataError(
        f"cells of the sheet are merged ({listed(places)}): only the first of each has its value.",
        "Unmerge them in the spreadsheet and write the value into every row that it is of.",
        "merged-cells",
    )


def _in_rows(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> Iterator[str]:
    """Yield the references of non-empty merged cells within the rows."""
    for (top, left), (bottom, right) in sorted(merged):
        row, column = top - start[0], left - start[1]
        inside = 0 <= row < len(cells) and 0 <= column < len(cells[row])
        if inside and bottom - start[0] >= has_header and cells[row][column] != "":
            yield f"{name_of((top, left))}:{name_of((bottom, right))}"
