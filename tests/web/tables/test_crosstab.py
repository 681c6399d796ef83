"""Rows of a project counted for a table."""

from walking import answer_late, button, column, give_role, send, step, until

from sfumato.localization.messages import words_in
from sfumato.microdata.data_plan import DataPlan
from sfumato.web.tables.crosstabs import MISSING, count_table


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
    page.get_by_text("Diese Datei enthält anscheinend eine Zeile je Person").wait_for()


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
    page.get_by_label("Columns to tabulate").wait_for()
    page.wait_for_function("window.did_handshake")
    if late_seconds:
        answer_late(page, late_seconds)
    page.get_by_label("Columns to tabulate").click()
    assert page.get_by_role("option", name="patient", exact=True).count() == 0
    for name in ("area", "sex"):
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()


def test_a_cell_of_one_person_with_many_rows_is_masked(base, open_page, tmp_path) -> None:
    """Rows were counted: six stays of one patient were published under a green tick."""
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path))
    page.get_by_text("Persons are counted, not rows: 24 persons in 29 rows, by the column patient.").wait_for()
    button(page, "Protect").click()
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").wait_for()
    assert page.locator(".sf-crosstab td.masked").count() >= 2


def test_where_persons_stand_in_several_cells_rules_look_at_persons(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path, [("p1", "b", "m")]))
    page.get_by_text("1 of 24 persons (column patient) occurs in more than one cell").wait_for()
    button(page, "Protect").click()
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").wait_for()
    assert page.locator(".sf-crosstab td.masked").count() >= 2


def test_columns_chosen_one_after_another_all_count_over_a_slow_line(base, open_page, tmp_path) -> None:
    """The second was chosen before the first was answered, and counted alone: the table was another than asked for."""
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path, [("p1", "b", "m")]), late_seconds=1)
    page.get_by_text("24 persons").first.wait_for()
    assert page.locator("textarea").first.input_value().startswith("area,sex,count,persons")


def test_what_is_told_of_a_count_stays_until_the_table_is_another(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path, [("p1", "b", "m")]))
    told = page.get_by_text("1 of 24 persons (column patient) occurs in more than one cell")
    told.wait_for()
    page.reload()
    told.wait_for()
    button(page, "Protect").click()
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").wait_for()
    assert told.count() == 1
    page.locator("textarea").first.fill("sex,count\nTotal,7\nm,3\nf,4")
    told.wait_for(state="hidden")


def test_what_is_counted_again_is_told_once(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    count_stays(page, base, stays(tmp_path))
    told = page.get_by_text("Persons are counted, not rows: 24 persons in 29 rows, by the column patient.")
    told.wait_for()
    button(page, "Tabulate").click()
    button(page, "Tabulate").and_(page.locator(":enabled")).wait_for()
    page.wait_for_timeout(1500)
    assert told.count() == 1


def test_a_count_that_fails_says_why(base, open_page, tmp_path, folder) -> None:
    page = open_page(f"{base}/app")
    path = stays(tmp_path).rename(tmp_path / "vanishing-stays.csv")
    send(page, path)
    page.get_by_text("rows,").first.wait_for()
    for kept in folder.rglob(path.name):
        kept.unlink()
    page.goto(f"{base}/app/tables")
    page.get_by_label("Columns to tabulate").click()
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
    page.get_by_label("missing value codes").fill("9")
    page.get_by_text("2 values, 6 missing").first.wait_for()
    page.goto(f"{base}/app/tables")
    page.get_by_label("Columns to tabulate").click()
    page.get_by_role("option", name="sex", exact=True).click()
    page.keyboard.press("Escape")
    button(page, "Tabulate").click()
    table = page.locator("textarea").first
    until(lambda: table.input_value().startswith("sex,"), 30)
    rows = table.input_value().splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {"Total", "f", "m", MISSING}
