"""Loaded data as the pages show them: numbers of a file with decimal commas have commas again."""

import openpyxl

from sfumato.localization.messages import words_in
from sfumato.web.projects.loaded_data import load


def test_numbers_are_shown_with_the_mark_of_the_language_and_codes_are_not(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{place};2.596,{place:02};{place:02}.04.1980" for place in range(1, 28)]
    path.write_text("nr;Einkommen;am\n" + "\n".join(lines) + "\n", encoding="utf-8")
    loaded = load(path)
    row = loaded.preview[0]
    assert row["Einkommen"] == "2596.01"
    assert loaded.shown("Einkommen", row["Einkommen"], words_in("de")) == "2596,01"
    assert loaded.shown("Einkommen", row["Einkommen"], words_in()) == "2596.01"
    assert loaded.shown("am", row["am"], words_in("de")) == "01.04.1980"


def test_codes_of_a_file_with_points_stay(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("code,n\n" + "89.00,1\n47.01,2\n" * 20, encoding="utf-8")
    assert load(path).shown("code", "89.00", words_in("de")) == "89.00"


def test_who_waits_is_told_each_step_and_how_far_it_is(tmp_path) -> None:
    """A million rows were read for two minutes with "Reading the file …" and nothing else."""
    path, told = tmp_path / "rows.csv", []
    path.write_text("nr,zip,illness\n" + "".join(f"{place},town,flu\n" for place in range(30)), encoding="utf-8")
    load(path, {}, lambda *progress: told.append(progress))
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["count", "look", "compare-columns"]
    shares = [done for _, done, whole in told if whole == 100]
    assert shares == sorted(shares) and len({*shares}) > 5 and shares[-1] < 100
    assert {stage for stage, _, _ in told} <= {*words_in("de")} & {*words_in()}


def test_what_there_is_to_know_of_a_file_is_said(tmp_path) -> None:
    """A page read the first of two sheets, and errors as missing, without a word."""
    book = openpyxl.Workbook()
    for row in (("age", "income"), *((20 + row, 100 * row) for row in range(30)), (51, "#REF!")):
        book.active.append(row)
    book.create_sheet("others")
    book.save(tmp_path / "rows.xlsx")
    notes = load(tmp_path / "rows.xlsx").notes
    assert [note.split(":")[0] for note in notes] == [
        "The workbook has 2 sheets",
        "1 cell holds an error (B32), read as missing.",
    ]
    german = [words_in("de").text(note) for note in notes]
    assert not {*german} & {*notes}


def test_cells_of_a_table_are_told_from_persons(tmp_path) -> None:
    cells = [(age, area, sex) for age in ("0-17", "18-39", "40-64", "65+") for area in "ABCDE" for sex in "fm"]
    lines = [",".join((*cell, str(7 * place % 40))) for place, cell in enumerate(cells)]
    path = tmp_path / "cells.csv"
    path.write_text("age,area,sex,count\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert any("sfumato protect" in note for note in load(path).notes)
