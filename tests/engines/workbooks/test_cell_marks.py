"""What workbooks say of cells besides their values: formulas nobody computed, errors, zeros that a format shows."""

import zipfile
from datetime import date

import openpyxl
import pytest
from written_books import number, rewritten, sheet_of, text

import sfumato as sf
from sfumato.engines.tabulation import columns_of_file
from sfumato.engines.workbooks.archive import Mark
from sfumato.engines.workbooks.sheets import _show
from sfumato.errors import DataError

PLAN = sf.Plan(sf.KAnonymity(2), other="insensitive").quasi("place")


def book(folder, *rows, format_of_places="General"):
    """A workbook of patients with their places, which Excel has not seen."""
    path = folder / "rows.xlsx"
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for cell in made.active["A"][1:]:
        cell.number_format = format_of_places
    made.save(path)
    return path


ROWS = [("place", "income"), *((f"place {row % 2}", 100 + row) for row in range(12))]
SUMS = [(*ROWS[0], "sum"), *((*row, f"=B{place}*2") for place, row in enumerate(ROWS[1:], 2))]


@pytest.mark.parametrize("use", [sf.suggest, lambda path: sf.anonymize(path, PLAN)])
def test_formulas_without_a_value_are_refused_with_their_places(tmp_path, use):
    with pytest.raises(DataError, match=r"no value yet \(C2, C3, C4 and 9 more\)") as refused:
        use(book(tmp_path, *SUMS))
    assert refused.value.code == "data.uncomputed-formulas"


def test_a_formula_with_its_value_is_read(tmp_path):
    path = book(tmp_path, *ROWS, ("place 1", "=SUM(B2:B13)"))
    rewritten(path, "xl/worksheets/sheet1.xml", ("<v></v>", "<v>1266</v>"))
    assert "1266" in columns_of_file(path)["income"]


def test_an_empty_text_is_a_value_of_a_formula(tmp_path):
    path = book(tmp_path, *ROWS, ("place 1", '=""'))
    change = ('<c r="B14">', '<c r="B14" t="str">')
    assert "income" in sf.suggest(rewritten(path, "xl/worksheets/sheet1.xml", change)).columns


@pytest.mark.parametrize(("waits", "refused"), [("1", True), ("0", False)])
def test_zeros_of_a_workbook_that_waits_to_be_computed_are_no_values(tmp_path, waits, refused):
    path = book(tmp_path, *ROWS, ("place 1", "=B13-B13"))
    rewritten(path, "xl/worksheets/sheet1.xml", ("<v></v>", "<v>0</v>"))
    rewritten(path, "xl/workbook.xml", ('fullCalcOnLoad="1"', f'fullCalcOnLoad="{waits}"'))
    if not refused:
        assert "income" in sf.suggest(path).columns
        return
    with pytest.raises(DataError, match=r"\(B14\)"):
        sf.suggest(path)


def test_other_prefixes_and_cells_without_names_are_the_same(tmp_path):
    path = book(tmp_path, *ROWS, ("place 1", "=B13-B13"))
    plain = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path) as file:
        content = file.read("xl/worksheets/sheet1.xml").decode()
    for name in ("worksheet", "sheetData", "row", "c", "v", "f", "is", "t"):
        for bracket in ("<", "</"):
            for end in (">", " "):
                content = content.replace(f"{bracket}{name}{end}", f"{bracket}x:{name}{end}")
    content = content.replace(f'xmlns="{plain}"', f'xmlns="{plain}" xmlns:x="{plain}"').replace(' r="B14"', "")
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, part in parts.items():
            new.writestr(name, content if name.endswith("sheet1.xml") else part)
    with pytest.raises(DataError, match=r"\(B14\)"):
        sf.suggest(path)


def test_formulas_of_another_sheet_are_none_of_it(tmp_path):
    path = book(tmp_path, *ROWS)
    made = openpyxl.load_workbook(path)
    made.create_sheet("sums")["A1"] = "=1+1"
    made.save(path)
    assert "income" in sf.suggest(path).columns


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("00000", ("01067", "70173", "00007")),
        ("[$-407]00000", ("01067", "70173", "00007")),
        ('"D-"00000', ("D-01067", "D-70173", "D-00007")),
        ("000\\-00", ("010-67", "701-73", "000-07")),
        ("0000", ("1067", "70173", "0007")),
        ("0", ("1067", "70173", "7")),
        ("0.00", ("1067", "70173", "7")),
        ("General", ("1067", "70173", "7")),
    ],
)
def test_zeros_that_a_format_shows_are_read(tmp_path, form, shown):
    path = book(tmp_path, ("place", "income"), (1067, 1), (70173, 2), (7, 3), format_of_places=form)
    assert columns_of_file(path)["place"] == shown


def test_what_is_no_whole_number_has_no_leading_zeros(tmp_path):
    path = book(tmp_path, ("place", "income"), (1067.5, 1), (-7, 2), ("A 7", 3), format_of_places="00000")
    assert columns_of_file(path)["place"] == ("1067.5", "-7", "A 7")


def test_postcodes_of_a_sheet_are_suggested_as_codes(tmp_path):
    rows = [(1067 + 97 * (row % 40), 1 + row) for row in range(200)]
    made = sf.suggest(book(tmp_path, ("zip", "income"), *rows, format_of_places="00000"))
    assert type(made.columns["zip"].hierarchy).__name__ == "CharacterMasking"


def test_errors_are_told_with_their_places(tmp_path):
    path = book(tmp_path, *ROWS, ("place 1", "#N/A"), ("place 0", "#REF!"))
    notes = " ".join(sf.suggest(path).notes)
    assert "2 cells hold errors (B14, B15), read as missing." in notes


def test_dates_and_plain_cells_are_as_they_were(tmp_path):
    path = book(tmp_path, ("place", "day"), (7, date(2020, 1, 2)), format_of_places="00000")
    assert columns_of_file(path) == {"place": ("00007",), "day": ("2020-01-02",)}


HEAD = text("place") + text("income")
LINES = [text(f"place {row % 2}") + number(row) for row in range(12)]


def test_formulas_without_a_value_are_refused_in_ods_too(tmp_path):
    formula = '<table:table-cell table:formula="of:=[.B2]*2"/>'
    other = f'<table:table table:name="other"><table:table-row>{formula}</table:table-row></table:table>'
    assert "income" in sf.suggest(sheet_of(tmp_path, HEAD, *LINES)).columns
    skipped = '<table:table-cell table:number-columns-repeated="2"/>'
    path = sheet_of(tmp_path, HEAD, *LINES, skipped + formula, before=other)
    with pytest.raises(DataError, match=r"\(C14\)"):
        columns_of_file(path, "rows")


def test_a_formula_with_its_value_is_read_in_ods_too(tmp_path):
    path = sheet_of(tmp_path, HEAD, *LINES, text("place 1") + number(1266, more=' table:formula="of:=SUM([.B2])"'))
    assert "1266" in columns_of_file(path)["income"]


def test_zeros_that_an_ods_file_shows_are_read(tmp_path):
    lines = [number(value, f"{value:05d}") + number(1) for value in (1067, 70173, 7)]
    style = '<office:automatic-styles><number:number number:min-integer-digits="5"/></office:automatic-styles>'
    path = sheet_of(tmp_path, HEAD, *lines, before=style)
    assert columns_of_file(path)["place"] == ("01067", "70173", "00007")


def test_numbers_that_an_ods_file_repeats_are_shown_in_all_their_cells(tmp_path):
    style = '<office:automatic-styles><number:number number:min-integer-digits="3"/></office:automatic-styles>'
    path = sheet_of(tmp_path, HEAD, number(7, "007", ' table:number-columns-repeated="2"'), before=style)
    assert columns_of_file(path) == {"place": ("007",), "income": ("007",)}


def test_numbers_repeated_without_end_are_shown_where_there_are_cells():
    cells = [["a", "b"], ["1", "2"], ["3", "4"]]
    _show(Mark("shown", (6, 3), "007", (10**9, 10**9)), (5, 2), cells)
    _show(Mark("shown", (0, 0), "000", (4, 10**9)), (5, 2), cells)
    assert cells == [["a", "b"], ["1", "007"], ["3", "007"]]


def test_merged_cells_of_ods_are_refused(tmp_path):
    covered = "<table:covered-table-cell/>"
    lines = [*LINES[:3], text("place 1", ' table:number-rows-spanned="2"') + number(1), covered + number(2)]
    with pytest.raises(DataError, match=r"\(A5:A6\)") as refused:
        sf.suggest(sheet_of(tmp_path, HEAD, *lines))
    assert refused.value.code == "data.merged-cells"
