"""Tables that belong together, sent to the page as files."""

from walking import anonymize, ask_for, button, step, view

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
    page.get_by_text("not the table pasted above").wait_for()
    button(page, "Protect").click()
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").first.wait_for()
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
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").first.wait_for()


def test_files_sleep_with_the_draft(base, open_page, tmp_path) -> None:
    """Files were gone with the page, and rules that were made for them were left."""
    (tmp_path / "areas.csv").write_text(BY_AREA, encoding="utf-8")
    (tmp_path / "ages.csv").write_text(BY_AGE.replace("old", "älter"), encoding="utf-8")
    page = open_page(f"{base}/app/tables")
    page.get_by_text("Linked tables").click()
    for name in ("areas.csv", "ages.csv"):
        page.locator(".q-expansion-item input[type=file]").first.set_input_files(tmp_path / name)
        page.get_by_text(f"{name}: ").wait_for()
    page.reload()
    page.get_by_text("ages.csv: ").wait_for()
    button(page, "Protect").click()
    page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").first.wait_for()


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
    page.locator(".sf-entry", has_text="too few respondents").wait_for()
    page.locator(".sf-entry", has_text="p percent").wait_for()
    assert page.locator(".sf-entry", has_text="small counts").count() == 0
