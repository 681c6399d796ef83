"""Tables on the page: crosstabs, rules that fit, ambiguous numbers, linked tables, all methods next to each other."""

import re

import pytest
from walking import (
    GERMAN,
    WORDS,
    anonymize,
    answer_late,
    ask_for,
    button,
    choose,
    column,
    give_role,
    send,
    step,
    until,
    view,
)

from sfumato.localization.messages import words_in
from sfumato.microdata.data_plan import DataPlan
from sfumato.web.tables.crosstabs import MISSING, count_table
from sfumato.web.tables.input_detection import ColumnFacts, facts_in, fitting_rules


def test_missing_values_are_one_category_and_totals_have_the_word_of_the_language(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('sex\nm\nN/A\n""\nm\n', encoding="utf-8")
    assert count_table(path, DataPlan(header=True), ["sex"], words_in("de"), ["N/A"]).lines == [
        ["sex", "Anzahl"],
        ["Gesamt", "4"],
        ["m", "2"],
        ["–", "2"],
    ]


def test_a_file_with_one_line_a_person_is_told_where_it_is_counted(base, open_page) -> None:
    page = open_page(f"{base}/app/tables", locale="de-DE")
    lines = [f"{place};{'mw'[place % 2]};{20 + place}" for place in range(30)]
    page.locator("textarea").first.fill("\n".join(["PatID;Geschlecht;Alter", *lines]))
    page.get_by_text(GERMAN["rows_seen"]).wait_for()


STAYS = [("p1", "a", "m")] * 6 + [(f"p{place}", "a", "f") for place in range(2, 9)]
STAYS += [(f"q{place}", "b", "mf"[place % 2]) for place in range(16)]


def stays(tmp_path, more=()):
    path = tmp_path / "stays.csv"
    path.write_text("\n".join(["patient,area,sex", *map(",".join, [*STAYS, *more])]), encoding="utf-8")
    return path


def test_persons_are_counted_once_and_rows_where_persons_do_not_add_up(tmp_path) -> None:
    read = DataPlan(header=True)
    table = count_table(stays(tmp_path), read, ["area", "sex"], words_in(), (), "patient")
    assert (table.lines[0], table.rows, table.persons, table.several) == (["area", "sex", "persons"], 29, 24, 0)
    cells = {(area, sex): count for area, sex, count in table.lines[1:]}
    assert (cells["a", "m"], cells["a", "f"], cells["a", "Total"], cells["Total", "Total"]) == ("1", "7", "8", "24")
    table = count_table(stays(tmp_path, [("p1", "b", "m")]), read, ["area", "sex"], words_in(), (), "patient")
    assert (table.lines[0], table.several) == (["area", "sex", "count", "persons"], 1)
    both = {(area, sex): (rows, persons) for area, sex, rows, persons in table.lines[1:]}
    assert (both["a", "m"], both["Total", "m"], both["Total", "Total"]) == (("6", "1"), ("15", "9"), ("30", "24"))


def test_rows_without_a_person_count_as_one(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,sex\n1,m\n,m\nN/A,m\n01,m\n", encoding="utf-8")
    table = count_table(path, DataPlan(header=True), ["sex"], words_in(), ["N/A"], "id")
    assert table.lines[1:] == [["Total", "3"], ["m", "3"]]


def count_stays(page, base, path, late_seconds=0) -> None:
    send(page, path)
    page.get_by_text("rows,").first.wait_for()
    step(page, "Columns")
    give_role(page, "patient", "person")
    page.goto(f"{base}/app/tables")
    page.get_by_label(WORDS["crosstab_columns"]).wait_for()
    page.wait_for_function("window.did_handshake")
    if late_seconds:
        answer_late(page, late_seconds)
    page.get_by_label(WORDS["crosstab_columns"]).click()
    assert page.get_by_role("option", name="patient", exact=True).count() == 0
    for name in ("area", "sex"):
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()


def test_a_cell_of_one_person_with_many_rows_is_masked(base, open_page, tmp_path) -> None:
    """Rows were counted: six stays of one patient were published under a green tick."""
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path))
    counted = page.get_by_text("Persons are counted, not rows: 24 persons in 29 rows, by the column patient.")
    counted.wait_for()
    button(page, "Tabulate").click()
    button(page, "Tabulate").and_(page.locator(":enabled")).wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.locator(".sf-crosstab td.masked").count() >= 2
    assert counted.count() == 1


def test_where_persons_stand_in_several_cells_rules_look_at_persons(base, open_page, tmp_path) -> None:
    """Over a slow line: the second column was chosen before the first was answered, and counted alone."""
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path, [("p1", "b", "m")]), late_seconds=1)
    several = page.get_by_text("1 of 24 persons (column patient) occurs in more than one cell")
    several.wait_for()
    assert page.locator("textarea").first.input_value().startswith("area,sex,count,persons")
    page.reload()
    several.wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).wait_for()
    assert page.locator(".sf-crosstab td.masked").count() >= 2
    assert several.count() == 1
    page.locator("textarea").first.fill("sex,count\nTotal,7\nm,3\nf,4")
    several.wait_for(state="hidden")


def test_a_count_that_fails_says_why(base, open_page, tmp_path, folder) -> None:
    page = open_page(f"{base}/app")
    path = stays(tmp_path).rename(tmp_path / "vanishing-stays.csv")
    send(page, path)
    page.get_by_text("rows,").first.wait_for()
    for kept in folder.rglob(path.name):
        kept.unlink()
    page.goto(f"{base}/app/tables")
    page.get_by_label(WORDS["crosstab_columns"]).click()
    page.get_by_role("option", name="sex", exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()
    page.get_by_role("alert").get_by_text("vanishing-stays.csv").wait_for()


def test_codes_of_a_column_are_counted_as_missing(base, open_page, tmp_path) -> None:
    """They were to be said of the column alone; a count without them has a category more, of nobody."""
    path = tmp_path / "coded-stays.csv"
    lines = [f"{person},{area},{9 if person == 'p1' else sex}" for person, area, sex in STAYS]
    path.write_text("\n".join(["patient,area,sex", *lines]), encoding="utf-8")
    page = open_page(f"{base}/app", width=1600)
    send(page, path)
    page.get_by_text("rows,").first.wait_for()
    step(page, "Columns")
    column(page, "sex")
    page.get_by_label(WORDS["column.missing"]).fill("9")
    page.get_by_text("2 values, 6 missing").first.wait_for()
    page.goto(f"{base}/app/tables")
    page.get_by_label(WORDS["crosstab_columns"]).click()
    page.get_by_role("option", name="sex", exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()
    table = page.locator("textarea").first
    until(lambda: table.input_value().startswith("sex,"), 30)
    rows = table.input_value().splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {"Total", "f", "m", MISSING}


FIRMS = """region,turnover,firms,top1,top2,note
Total,500.5,14,90.5,70,1
a,100.5,5,90.5,4,1
b,200,4,40,30,1
c,200,5,70,60,1
"""
LARGE = "area,count\nTotal,90\nx,40\ny,50\n"


@pytest.mark.parametrize(
    ("names", "lines", "frequency", "contributions"),
    [
        (["Region", "Umsatz", "Betriebe"], [["a", "7.5", "3"]], "Betriebe", []),
        (["region", "max2", "max1", "sum"], [["a", "1", "2", "3"]], None, ["max1", "max2"]),
        (["area", "Anzahl der Befragten", "income"], [["a", "4", "9"]], "Anzahl der Befragten", []),
        (["area", "n", "topic"], [["a", "4.5", "9"]], None, []),
    ],
)
def test_columns_that_say_who_is_behind_cells(names, lines, frequency, contributions) -> None:
    assert facts_in(names, lines) == ColumnFacts(frequency, contributions)


def test_small_counts_are_a_rule_for_whole_numbers_only() -> None:
    assert [rule["rule"] for rule in fitting_rules(ColumnFacts(), whole=False)] == ["p-percent"]
    assert [rule["rule"] for rule in fitting_rules(ColumnFacts("n"), whole=False)] == ["frequency"]


def test_a_survey_of_enterprises_is_judged_by_who_is_behind_its_sums(base, open_page) -> None:
    """And where nothing is unsafe the page promises nothing."""
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(FIRMS)
    page.get_by_text("p percent", exact=True).first.wait_for()
    page.get_by_text(WORDS["rule.frequency"], exact=True).first.wait_for()
    page.get_by_text("Not used: note.").wait_for()
    assert not page.get_by_text("Remove: small counts").count()
    button(page, "Protect").click()
    page.get_by_text("2 of 4 cells suppressed: 1 primary, 1 secondary.").wait_for()
    page.locator("textarea").first.fill(LARGE)
    button(page, "Protect").click()
    page.get_by_text(WORDS["tabled.nothing_sensitive"]).wait_for()
    assert not page.get_by_text(WORDS["table_holds"]).count()
    assert not page.get_by_text("this is proved").count()


BY_AREA = """area;sex;n
Total;Total;60
Total;m;30
Total;f;30
a;Total;22
a;m;2
a;f;20
b;Total;38
b;m;28
b;f;10
"""
BY_AGE = """age;sex;n
Total;Total;60
Total;m;30
Total;f;30
old;Total;25
old;m;12
old;f;13
young;Total;35
young;m;18
young;f;17
"""


def test_tables_are_protected_together_and_take_no_place_of_the_data(base, open_page, tmp_path) -> None:
    """A table that was called as the data of the project was written in their place."""
    for folder, name, text in (
        ("data", "people.csv", "age,sex\n" + "30,m\n40,f\n" * 20),
        ("tables", "people.csv", BY_AREA.replace("Total", "Insgesamt")),  # which is known for a total without a word
        ("tables", "ages.csv", BY_AGE.replace("Total", "Insgesamt")),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    page = open_page(base + "/app")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "data" / "people.csv")
    page.get_by_text("40 rows").first.wait_for()
    page.goto(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    for name in ("people.csv", "ages.csv"):
        page.locator(".q-expansion-item input[type=file]").first.set_input_files(tmp_path / "tables" / name)
        page.get_by_text(f"{name}: ").wait_for()
    page.reload()  # files sleep with the draft
    page.get_by_text("ages.csv: ").wait_for()
    page.get_by_text("not the table pasted above").wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).first.wait_for()
    page.goto(f"{base}/app")
    step(page, "Goal")
    ask_for(page, 5)
    anonymize(page)
    view(page, "Rows")
    page.get_by_text("40", exact=True).first.wait_for()


def test_the_decimal_mark_of_tables_is_guessed_asked_for_and_chosen(base, open_page, tmp_path) -> None:
    """There was no field for it: files with thousands could not be protected on an English page."""
    thousands = BY_AREA.replace(";60", ";1.060").replace(";38", ";1.038").replace("b;m;28", "b;m;1.028")
    thousands = thousands.replace("Total;m;30", "Total;m;1.030")
    ages = BY_AGE.replace(";60", ";1.060").replace(";35", ";1.035").replace("young;m;18", "young;m;1.018")
    ages = ages.replace("Total;m;30", "Total;m;1.030")
    page = open_page(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    for name, text in (("areas.csv", thousands), ("ages.csv", ages)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        page.locator(".q-expansion-item input[type=file]").first.set_input_files(tmp_path / name)
        page.get_by_text(f"{name}: ").wait_for()
    page.get_by_text("or a decimal number?").wait_for()
    page.locator(".q-expansion-item").get_by_label("Decimal mark").click()
    page.get_by_role("option", name="comma 1,5").click()
    page.get_by_text("is read as 1").wait_for()
    button(page, "Protect").click()
    page.get_by_text(WORDS["table_holds"]).first.wait_for()


def test_rules_are_proposed_for_what_the_columns_of_all_tables_say(base, open_page, tmp_path) -> None:
    """A single table of sums was given rules about who is behind them; several were given one for small counts."""
    for name, text in (("areas.csv", BY_AREA), ("ages.csv", BY_AGE)):
        head, *lines = text.replace(";n\n", ";turnover;firms;top1;top2\n").splitlines()
        sums = [f"{line}.5;4;9;8" for line in lines]
        (tmp_path / name).write_text("\n".join([head, *sums]) + "\n", encoding="utf-8")
    page = open_page(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    for name in ("areas.csv", "ages.csv"):
        page.locator(".q-expansion-item input[type=file]").first.set_input_files(tmp_path / name)
        page.get_by_text(f"{name}: ").wait_for()
    page.locator(".sf-entry", has_text=WORDS["rule.frequency"]).wait_for()
    page.locator(".sf-entry", has_text="p percent").wait_for()
    assert page.locator(".sf-entry", has_text="small counts").count() == 0


def test_a_switch_that_is_clicked_twice_over_a_slow_line_is_as_before(base, open_page) -> None:
    """The second click was taken for the first, since the page waited for the server to say what the first did."""
    page = open_page(f"{base}/app/tables")
    choose(page, "Method", WORDS["masking.rounding"])
    switch = page.get_by_role("switch", name=WORDS["masking.promised"])
    switch.wait_for()
    answer_late(page, 1)
    for checked in ("false", "true"):
        switch.click()
        assert switch.get_attribute("aria-checked") == checked
    page.wait_for_timeout(3500)
    assert switch.get_attribute("aria-checked") == "true"
    page.reload()
    page.get_by_role("switch", name=WORDS["masking.promised"], checked=True).wait_for()


COUNTS = "Landkreis\tFälle\nJena\t1.204\nGera\t3\nUlm\t4\nGesamt\t1.211\n"


def test_points_between_thousands_are_proposed_on_a_german_page(base, open_page) -> None:
    page = open_page(f"{base}/app/tables", locale="de-DE")
    page.locator("textarea").first.fill(COUNTS)
    page.get_by_text("„1.204“ wird als 1204 gelesen").wait_for()
    button(page, "Schützen").click()
    page.get_by_text("1211", exact=True).first.wait_for()
    choose(page, "Dezimalzeichen", "Punkt 1.5")
    page.get_by_text("„1.204“ wird als Dezimalzahl gelesen").wait_for()


def test_commas_between_thousands_are_proposed_and_points_asked_about_on_an_english_page(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(COUNTS)
    page.get_by_text('Is "1.204" 1204 or a decimal number?').wait_for()
    choose(page, "Decimal mark", "comma 1,5")
    page.get_by_text('"1.204" is read as 1204').wait_for()
    page.locator("textarea").first.fill(COUNTS.replace(".", ","))
    choose(page, "Decimal mark", "point 1.5")
    page.get_by_text('"1,204" is read as 1204').wait_for()
    button(page, "Protect").click()
    page.get_by_text("1211", exact=True).first.wait_for()


def test_a_table_is_rounded_and_all_ways_are_compared(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    choose(page, "Method", "rounding")
    page.get_by_label("Rounding base", exact=True).fill("5")
    page.get_by_text(WORDS["masking.promised"]).click()
    button(page, "Protect").click()
    page.get_by_text("controlled rounding to base 5 changed ").wait_for()
    page.get_by_text(WORDS["noised.no_guarantee"]).wait_for()
    numbers = [int(text) for text in page.locator(".sf-crosstab td").all_inner_texts()]
    assert len(numbers) == 12 and all(number % 5 == 0 for number in numbers)
    assert page.locator(".sf-crosstab td.masked").first.get_attribute("title").startswith("true value ")
    button(page, WORDS["ways.compare"]).click()
    page.get_by_text(re.compile(r"^\d of 9 methods satisf(y|ies) the rules\.")).wait_for()
    assert page.locator(".sf-ways tbody tr").count() == 9
    with page.expect_download() as waiting:
        button(page, "Internal report").click()
    assert WORDS["ways.title"] in waiting.value.path().read_text(encoding="utf-8")
