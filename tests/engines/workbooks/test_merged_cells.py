"""Merged cells of workbooks: refused with their place where rows would lack the value, and left alone elsewhere."""

import openpyxl
import pytest

import sfumato as sf
from sfumato.errors import DataError

ROWS = [("name", "place", "illness"), *((f"person {row}", f"place {row % 2}", "flu") for row in range(12))]


def book(folder, *merged, start=1):
    path = folder / "rows.xlsx"
    made = openpyxl.Workbook()
    for row, values in enumerate(ROWS):
        for column, value in enumerate(values):
            made.active.cell(start + row, start + column, value)
    for cells in merged:
        made.active.merge_cells(cells)
    made.save(path)
    return path


@pytest.mark.parametrize(
    ("merged", "shown"),
    [
        (["C2:C5"], r"\(C2:C5\)"),
        (["A3:B3"], r"\(A3:B3\)"),
        (["C1:C2"], r"\(C1:C2\)"),
        (["B2:B3", "C2:C5", "C6:C8", "C9:C10", "A4:A5"], r"\(B2:B3, C2:C5, A4:A5 and 2 more\)"),
    ],
)
def test_merged_cells_are_refused_with_their_places(tmp_path, merged, shown):
    path = book(tmp_path, *merged)
    plan = sf.Plan(sf.KAnonymity(2), other="insensitive").identifiers("name").quasi("place")
    for use in (lambda: sf.suggest(path), lambda: sf.anonymize(path, plan)):
        with pytest.raises(DataError, match=shown) as refused:
            use()
        assert refused.value.code == "data.merged-cells"


def test_places_are_those_of_the_sheet_wherever_its_rows_begin(tmp_path):
    with pytest.raises(DataError, match=r"\(F6:F7\)"):
        sf.suggest(book(tmp_path, "F6:F7", start=4))


def test_merged_cells_that_hold_nothing_or_lie_elsewhere_are_none_of_it(tmp_path):
    assert "place" in sf.suggest(book(tmp_path, "E20:F25")).columns
