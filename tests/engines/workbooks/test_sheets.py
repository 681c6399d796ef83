"""Sheets of workbooks: which one is read when nobody says, what is told of the others, and how one is named."""

import struct

import openpyxl
import pytest
from openpyxl.chart import BarChart
from python_calamine import CalamineWorkbook

import sfumato as sf
from sfumato.cli.main import run
from sfumato.engines.workbooks.sheets import sheet_names
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import words_in

ROWS = [("age", "town", "illness"), *((20 + row % 40, f"town {row % 3}", "flu") for row in range(90))]
COVER = [("Export of the hospital",), (), ("town", "name of the town", "text"), ("age", "in years", "number")]


def book(folder, *sheets, hidden=()):
    """A workbook of sheets, each with a name and rows."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    made.save(folder / "rows.xlsx")
    return folder / "rows.xlsx"


def told(path):
    return " ".join(sf.suggest(path).notes)


def test_empty_and_hidden_sheets_are_passed_over(tmp_path):
    sheets = (("empty", ()), ("title", [("Export",)]), ("lists", [("a",), (1,)]), ("cases", ROWS), ("notes", COVER))
    path = book(tmp_path, *sheets, hidden=["lists"])
    assert list(sf.suggest(path).columns) == ["age", "town", "illness"]
    assert '5 sheets: "cases" was read, not "empty", "title", "lists", "notes".' in told(path)


def test_a_hidden_sheet_is_read_where_it_is_named_or_there_is_no_other(tmp_path):
    path = book(
        tmp_path, ("cases", ROWS), ("lists", [("a", "b"), *((row, row % 3) for row in range(50))]), hidden=["lists"]
    )
    assert list(sf.suggest(path, table="lists").columns) == ["a", "b"]
    assert not any("sheets" in note for note in sf.suggest(path, table="lists").notes)
    alone = CalamineWorkbook.from_path(str(path)).sheets_metadata
    assert [entry.name for entry in alone] == ["cases", "lists"] == [*sheet_names(path)]


def test_a_chart_is_no_sheet_of_rows(tmp_path):
    made = openpyxl.Workbook()
    made.create_chartsheet("picture", 0).add_chart(BarChart())
    for row in ROWS:
        made["Sheet"].append(row)
    made.save(tmp_path / "rows.xlsx")
    assert sheet_names(tmp_path / "rows.xlsx") == ("Sheet",)
    assert list(sf.suggest(tmp_path / "rows.xlsx").columns) == ["age", "town", "illness"]


def test_a_refusal_names_the_other_sheets(tmp_path, capsys):
    path = book(tmp_path, ("cover", COVER), ("cases", ROWS))
    with pytest.raises(DataError, match='"cover" was read, not "cases"') as refused:
        sf.suggest(path)
    assert refused.value.code == "data.title"
    assert 'Gelesen wurde „cover“, nicht "cases".' in words_in("de").text(refused.value.text)
    assert run(["suggest", str(path), "--table", "cases", "--out", str(tmp_path / "plan.yaml")]) == 0
    with pytest.raises(PlanError, match='Did you mean "cases"'):
        sf.suggest(path, table="case")
    with pytest.raises(DataError) as named:
        sf.suggest(path, table="cover")
    assert "sheets" not in str(named.value)
    assert capsys.readouterr().err == ""


def test_a_workbook_without_any_cell_is_empty(tmp_path):
    with pytest.raises(DataError) as refused:
        sf.suggest(book(tmp_path, ("one", ()), ("two", ())))
    assert refused.value.code == "data.empty"


def locked_book():
    """What a spreadsheet writes when a password is asked for: a compound file with one stream of encrypted bytes."""
    last, free, none = 0xFFFFFFFE, 0xFFFFFFFF, bytes(16)
    head = bytes.fromhex("d0cf11e0a1b11ae1") + none + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, 1, 1, 0, 4096, last, 0, last, 0) + struct.pack("<109I", 0, *[free] * 108)
    sectors = struct.pack("<128I", 0xFFFFFFFD, last, *[free] * 126)
    for name, kind, child in (("Root Entry", 5, 1), ("EncryptedPackage", 2, free)):
        letters = name.encode("utf-16-le")
        links = struct.pack("<HBB3I", len(letters) + 2, kind, 1, free, free, child)
        sectors += letters.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", last, 0)
    return head + sectors.ljust(1024, b"\0")


def test_a_workbook_with_a_password_is_told_as_such(tmp_path):
    (tmp_path / "rows.xlsx").write_bytes(locked_book())
    with pytest.raises(DataError, check=lambda error: error.code == "data.locked") as refused:
        sf.suggest(tmp_path / "rows.xlsx")
    assert refused.value.code == "data.locked"
    assert "Kennwort" in words_in("de").text(refused.value.text)


@pytest.mark.parametrize(
    "cover",
    [
        [("Report 2024",), (), ("made by Dr. Krause",)],
        [("Author", "Dr. Krause"), ("Date", "2024-05-01"), ("Source", "ward 4")],
    ],
)
def test_a_cover_is_passed_over(cover, tmp_path):
    """It was read as data, so that nothing of the workbook was published, and the promises held."""
    path = book(tmp_path, ("cover", cover), ("cases", ROWS))
    assert list(sf.suggest(path).columns) == ["age", "town", "illness"]
    assert '2 sheets: "cases" was read, not "cover".' in told(path)


def test_a_narrow_sheet_is_read_where_there_is_no_other(tmp_path):
    narrow = [("age", "sex"), *((30 + row, "mf"[row % 2]) for row in range(20))]
    assert list(sf.suggest(book(tmp_path, ("cases", narrow), ("empty", ()))).columns) == ["age", "sex"]
