"""A workbook of several sheets on the pages: one of them is chosen, also where the first cannot be read."""

import openpyxl
import yaml
from walking import anonymize, choose, downloaded, send, step

COVER = [("Export of the hospital",), (), ("town", "name of the town", "text"), ("age", "in years", "number")]


def book(path, *sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def rows_of(names, count):
    return [names, *((20 + row % 20, f"town {row % 3}", "flu") for row in range(count))]


def test_another_sheet_is_chosen_and_the_plan_names_it(base, open_page, tmp_path) -> None:
    sheets = (
        ("first", rows_of(("age", "town", "illness"), 60)),
        ("Fälle 2026", rows_of(("alter", "ort", "krank"), 90)),
    )
    page = open_page(f"{base}/app")
    send(page, book(tmp_path / "rows.xlsx", *sheets))
    page.get_by_text('The workbook has 2 sheets: "first" was read').wait_for()
    page.get_by_text("60 rows, 3 columns").wait_for()
    choose(page, "Sheet", "Fälle 2026")
    page.get_by_text("90 rows, 3 columns").wait_for()
    page.get_by_role("columnheader", name="krank").wait_for()
    anonymize(page)
    step(page, "Release")
    plan = downloaded(page, "Plan", tmp_path / "plan.yaml")
    assert yaml.safe_load(plan.read_text(encoding="utf-8"))["data"]["table"] == "Fälle 2026"
    assert "alter" in downloaded(page, "Data", tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()[0]


def test_a_sheet_is_chosen_where_the_first_cannot_be_read(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    send(page, book(tmp_path / "rows.xlsx", ("cover", COVER), ("cases", rows_of(("age", "town", "illness"), 60))))
    page.get_by_text("looks like a title").wait_for()
    choose(page, "Sheet", "cases")
    page.get_by_text("60 rows, 3 columns").wait_for()
