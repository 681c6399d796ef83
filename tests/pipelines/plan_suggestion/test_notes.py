"""What `suggest` says of the rows beside the plan: of persons, of commas, and of which table was read."""

import json
import random
from datetime import date, timedelta

import messy_files
import openpyxl
import pytest
import yaml

from sfumato.pipelines.suggest import suggest_for_file, suggest_for_frame

pandas = pytest.importorskip("pandas")


def written(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("known", ["geb. am", "Patientennr"])
def test_equal_names_are_no_equal_persons_where_something_else_tells_them_apart(tmp_path, known):
    """Few names, in many rows: dates of birth, withheld ones too, or a number of each patient tell them apart."""
    draw = random.Random(7)
    names = [f"{draw.choice(messy_files.SURNAMES_DE)} {draw.choice(messy_files.GIVEN_DE)}" for _ in range(2000)]
    days = ((date(1930, 1, 1) + timedelta(days=13 * place)).strftime("%d.%m.%Y") for place in range(len(names)))
    tells = days if known == "geb. am" else range(4711, 4711 + len(names))
    rows = [(name, each, draw.choice("mw"), draw.choice("abcd")) for name, each in zip(names, tells, strict=True)]
    path = tmp_path / "stays.csv"
    assert not suggest_for_file(written(path, f"Name,{known},Geschlecht,Diagnose", rows)).notes
    alone = [(name, *rest) for name, _, *rest in rows]
    assert suggest_for_file(written(path, "Name,Geschlecht,Diagnose", alone)).notes


def test_decimal_commas_in_texts_of_other_files_are_said(tmp_path):
    """`data.decimal` is for CSV files: a plan that has it would promise what nobody does."""
    rows = [{"Gehalt": f"{place},{place % 100:02d}", "Alter": 20 + place % 40} for place in range(1, 200)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    for suggestion in (suggest_for_file(tmp_path / "rows.json"), suggest_for_frame(pandas.DataFrame(rows))):
        assert "decimal" not in suggestion.plan["data"]
        assert any("decimal commas" in note for note in suggestion.notes)


def test_the_sheet_of_a_workbook_is_named(tmp_path, sfumato):
    book = openpyxl.Workbook()
    for row in (("cover", "page"), ("x", "y")):
        book.active.append(row)
    sheet = book.create_sheet("people")
    for row in [("age", "sex"), *((20 + place % 40, "mw"[place % 2]) for place in range(60))]:
        sheet.append(row)
    book.save(tmp_path / "rows.xlsx")
    assert any("has 2 sheets" in note for note in suggest_for_file(tmp_path / "rows.xlsx").notes)
    run = sfumato("suggest", str(tmp_path / "rows.xlsx"), "--table", "people")
    plan = yaml.safe_load(run.out)
    assert ([*plan["columns"]], plan["data"]["table"], run.err) == (["age", "sex"], "people", "")


@pytest.mark.parametrize("cells_left", [40, 36, 20])
def test_cells_of_a_table_are_told_from_persons(tmp_path, cells_left):
    draw = random.Random(1)
    cells = [
        (age, area, sex, draw.randrange(40))
        for age in ("0-17", "18-39", "40-64", "65+") for area in "ABCDE" for sex in "fm"
    ]  # fmt: skip
    some = draw.sample(cells, cells_left)
    notes = suggest_for_file(written(tmp_path / "t.csv", "age,area,sex,cases", some)).notes
    assert any("sfumato protect" in note and '"cases"' in note for note in notes) == (cells_left > 30)
    persons = [(20 + place % 40, "fm"[place % 2], "ABC"[place % 3]) for place in range(120)]
    assert not suggest_for_file(written(tmp_path / "p.csv", "age,sex,area", persons)).notes


@pytest.mark.parametrize(
    ("footer", "said"),
    [
        ([("Total", "", "", "", "", 4100)], "1 row holds next to nothing"),
        ([("", "", "", "", "", 4100), ("Export 03/02/2025", *[""] * 5)], "2 rows hold next to nothing"),
        ([("P99", 44, "m", "Ulm", "", "")], ""),
        ([(f"P{place}", *[""] * 5) for place in range(90, 99)], ""),
    ],
)
def test_totals_below_the_rows_are_told_as_such(tmp_path, footer, said):
    """They were counted and published as persons without a word; that much is unknown of many is no footer."""
    rows = [(f"P{place}", 20 + place % 40, "mf"[place % 2], "Ulm", "flu", place) for place in range(300)]
    notes = suggest_for_file(written(tmp_path / "rows.csv", "code,age,sex,town,illness,costs", rows + footer)).notes
    assert said in " ".join(notes) if said else "note.nearly_empty" not in {note.code for note in notes}
