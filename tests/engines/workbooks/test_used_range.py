"""Workbooks that would take more room than there is: a stray cell far from the table, parts packed without measure."""

import zipfile

import openpyxl
import pytest
from written_books import binary_book, number, rewritten, sheet_of, text

import sfumato as sf
from sfumato.engines.workbooks.sheets import read_sheet, sheet_names
from sfumato.errors import DataError

SHEET = "xl/worksheets/sheet1.xml"
LAST = '<row r="1048576"><c r="XFD1048576"{more}</row></sheetData>'


@pytest.fixture
def table(tmp_path):
    """A workbook of places and ages."""
    path = tmp_path / "rows.xlsx"
    made = openpyxl.Workbook()
    for row in (["place", "age"], *(["north", 30 + age] for age in range(9))):
        made.active.append(row)
    made.save(path)
    return path


def test_a_stray_cell_in_the_last_corner_is_named(table):
    rewritten(table, SHEET, ("</sheetData>", LAST.format(more="><v>1</v></c>")))
    with pytest.raises(DataError, match="far apart, up to XFD1048576 and XFD1048576: 17,179,869,184 places") as told:
        sf.suggest(table)
    assert told.value.code == "data.far-cells" and "Empty the cells next to the table" in told.value.hint


@pytest.mark.parametrize(
    "cell",
    [
        "<c r='XFD1048576' t='str'><v>x</v></c>",
        '<c s="0"  r="xfd1048576"><v>1</v></c>',
        '<c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c>',
        "<c><v>1</v></c>" * 17,
    ],
)
def test_however_it_is_written(table, cell):
    rewritten(table, SHEET, ("</sheetData>", f'<row r="1048576">{cell}</row></sheetData>'))
    with pytest.raises(DataError, check=lambda error: error.code == "data.far-cells"):
        read_sheet(table, None)


def test_empty_cells_with_a_style_may_stand_anywhere(table):
    rewritten(table, SHEET, ("</sheetData>", LAST.format(more=' s="0"/>')))
    assert len(read_sheet(table, None).cells) == 10


def test_cells_need_not_say_where_they_are(table):
    cells = "".join(f"<row><c><v>{row}</v></c><c><v>1</v></c></row>" for row in range(40))
    rewritten(table, SHEET, ("</sheetData>", f"{cells}</sheetData>"))
    assert len(read_sheet(table, None).cells) == 50


def test_two_far_cells_are_named_by_row_and_by_column(table):
    far = '<row r="5000"><c r="A5000"><v>1</v></c></row><row r="5001"><c r="XFD5001"><v>1</v></c></row>'
    rewritten(table, SHEET, ("</sheetData>", f'{far}<row r="900000"><c r="B900000"><v>1</v></c></row></sheetData>'))
    with pytest.raises(DataError, match="up to B900000 and XFD5001"):
        read_sheet(table, None)


@pytest.mark.parametrize(
    "far",
    [
        '<table:table-cell table:number-columns-repeated="16383"/>' + text("x"),
        text("x", ' table:number-columns-repeated="16384"'),
        number(1, more=' table:number-columns-repeated="16384"'),
    ],
)
def test_repeated_cells_reach_as_far_as_they_are_repeated(tmp_path, far):
    gap = (
        '<table:table-cell/></table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell/>'
    )
    path = sheet_of(tmp_path, text("place") + text("age"), gap, far)
    with pytest.raises(DataError, match="far apart, up to XFD10480"):
        read_sheet(path, None)
    with pytest.raises(DataError, check=lambda error: error.code == "data.far-cells"):
        sheet_names(path)


def test_empty_rows_may_be_repeated_to_the_end_of_the_sheet(tmp_path):
    end = '<table:table-cell table:number-columns-repeated="16384"/>'
    gap = f'{end}</table:table-row><table:table-row table:number-rows-repeated="1048000">{end}'
    path = sheet_of(tmp_path, text("place") + end, number(1), gap)
    assert read_sheet(path, None).cells == [["place"], [1.0]]


def test_cells_of_a_binary_workbook_are_looked_through_too(tmp_path):
    cells = {(0, 0): "place", (0, 1): "age", (1, 0): "north", (1, 1): 31.0, (300, 130): 1.5}
    read = read_sheet(binary_book(tmp_path / "rows.xlsb", cells), None)
    assert read.cells[1][:2] == ["north", 31.0] and len(read.cells) == 301
    with pytest.raises(DataError, match="far apart, up to XFD1048576 and XFD1048576"):
        read_sheet(binary_book(tmp_path / "rows.xlsb", {**cells, (1048575, 16383): 31.0}), None)


@pytest.mark.parametrize("encoding", ["tTF-8", "UTF--08"])
def test_an_encoding_that_is_none_is_damage(table, encoding):
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    rewritten(
        table,
        SHEET,
        ("<worksheet", f"{declared}<worksheet"),
        ("</sheetData>", "<row><c><v>1</v></c></row></sheetData>"),
    )
    with pytest.raises(DataError, check=lambda error: error.code == "data.unreadable"):
        sf.suggest(table)


def test_parts_that_are_packed_without_measure_are_refused(table, monkeypatch):
    monkeypatch.setattr("sfumato.engines.workbooks.used_range.LENGTH", 1 << 20)
    with zipfile.ZipFile(table, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/media/image1.xml", b" " * (3 << 20))
    with pytest.raises(
        DataError, match=r"rows.xlsx becomes 3,145,728 bytes when it is unpacked, \d,?\d* times"
    ) as told:
        sf.suggest(table)
    assert told.value.code == "data.overpacked"
