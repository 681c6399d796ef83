"""Rows of a project counted for a table."""

from sfumato.microdata.data_plan import DataPlan
from sfumato.texts.words import words_in
from sfumato.web.tables.crosstab import count_table


def test_missing_values_are_one_category_and_totals_have_the_word_of_the_language(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('sex\nm\nN/A\n""\nm\n', encoding="utf-8")
    assert count_table(path, DataPlan(header=True), ["sex"], words_in("de"), ["N/A"]) == [
        ["sex", "Anzahl"],
        ["Gesamt", "4"],
        ["m", "2"],
        ["–", "2"],
    ]


def test_a_file_with_one_line_a_person_is_told_where_it_is_counted(base, open_page) -> None:
    page = open_page(f"{base}/app/tables", locale="de-DE")
    lines = [f"{place};{'mw'[place % 2]};{20 + place}" for place in range(30)]
    page.locator("textarea").first.fill("\n".join(["PatID;Geschlecht;Alter", *lines]))
    page.get_by_text("Das sieht nach einer Zeile je Person aus").wait_for()
