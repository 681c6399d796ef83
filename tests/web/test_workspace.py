"""Nothing is lost: reload, back, two tabs, a lost connection, undo, projects saved, opened, put away and erased."""

import json
import re
import time
import zipfile

import yaml
from walking import (
    WORDS,
    anonymize,
    ask_for,
    button,
    choose,
    column,
    downloaded,
    give_role,
    k_field,
    load_example,
    plan_now,
    plan_of,
    send,
    step,
    view,
)


def at(page, name):
    """Wait until a step is at hand, and its place in the address."""
    page.locator(".sf-step[aria-current=step]", has_text=name).wait_for()
    page.wait_for_url(re.compile(f"#{name.lower()}$"))


def test_every_step_survives_a_reload_and_is_a_place_of_the_browser(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    page.reload()
    page.get_by_text("300 rows,").wait_for()
    button(page, "Next").click()
    at(page, "Columns")
    give_role(page, "illness", "insensitive")
    page.reload()
    page.locator("tr[data-column=illness][data-role=insensitive]").wait_for()
    button(page, "Next").click()
    at(page, "Goal")
    ask_for(page, 7)
    button(page, "Back").click()
    at(page, "Columns")
    page.go_back()
    at(page, "Goal")
    assert page.locator(".q-notification").count() == 0
    page.reload()
    page.get_by_text("in an equivalence class smaller than 7.").wait_for()
    assert k_field(page).input_value() == "7"
    anonymize(page)
    at(page, "Result")
    for name in ("Goal", "Columns"):
        page.go_back()
        at(page, name)
    page.go_forward()
    at(page, "Goal")
    step(page, "Result")
    page.reload()
    page.get_by_text(WORDS["report.holds"]).wait_for()
    step(page, "Release")
    page.reload()
    page.get_by_text("For publication", exact=True).wait_for()


def test_who_leaves_while_a_run_is_made_finds_it_again(base, open_page, no_new_workers) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    step(page, "Result")
    with no_new_workers():
        button(page, "Anonymize").click()
        button(page, "Cancel").wait_for()
        page.reload()
        button(page, "Cancel").wait_for()
    page.get_by_text(WORDS["report.holds"]).wait_for()


def test_an_address_that_names_a_step_opens_it_and_one_that_names_none_changes_nothing(base, open_page) -> None:
    page = open_page(f"{base}/app#result")
    at_hand = page.locator(".sf-step[aria-current=step]")
    at_hand.filter(has_text="Result").wait_for()
    page.get_by_role("heading", name="Result").wait_for()
    page.get_by_text(WORDS["no_data"]).wait_for()
    page.reload()
    at_hand.filter(has_text="Result").wait_for()
    page.evaluate("location.hash = 'nothing'")
    page.wait_for_url(re.compile("#result$"))
    page.goto(f"{base}/app/help#risk")
    page.locator(".sf-document h1").wait_for()
    page.locator(".sf-index button").first.click()
    page.wait_for_url(re.compile("#(?!risk)"))
    page.go_back()
    page.locator(".sf-index button[aria-current=true]", has_text="Risk").wait_for()
    page.goto(f"{base}/app")  # the work stands where it was left
    page.wait_for_url(re.compile("#result$"))
    step(page, "Data")
    page.wait_for_url(re.compile("#data$"))
    page.go_back()
    at_hand.filter(has_text="Result").wait_for()


def test_a_tab_says_that_another_changed_the_project_and_runs_nothing_else_than_it_shows(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    other = page.context.new_page()
    other.goto(f"{base}/app")
    other.get_by_text("300 rows,").wait_for()
    step(other, "Goal")
    other.get_by_text("in an equivalence class smaller than 5.").wait_for()
    other.set_viewport_size({"width": 1280, "height": 300})
    other.evaluate("scrollTo(0, document.body.scrollHeight)")
    ask_for(page, 9)
    news = other.get_by_text(WORDS["other_tab"])
    news.wait_for()
    assert 0 <= news.bounding_box()["y"] < 300  # it is seen wherever the page was scrolled to
    assert other.locator(".sf-page > [inert] input").count() > 0  # nothing is done with what is no longer true
    button(other, "Reload").click()
    other.get_by_text("in an equivalence class smaller than 9.").wait_for()
    assert k_field(other).input_value() == "9"
    assert other.locator("[inert]").count() == 0
    step(other, "Result")
    ask_for(page, 12)
    other.get_by_text(WORDS["other_tab"]).wait_for()
    other.evaluate("document.querySelector('[inert]').removeAttribute('inert')")  # a click that was on its way
    button(other, "Anonymize").click()
    time.sleep(0.5)
    assert other.get_by_text("Cancel").count() == 0
    step(other, "Goal")
    assert k_field(other).input_value() == "12"
    assert page.get_by_text(WORDS["other_tab"]).count() == 0


def test_a_lost_connection_loses_nothing(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    ask_for(page, 8)
    page.context.set_offline(True)
    time.sleep(2)
    page.context.set_offline(False)
    page.wait_for_function("window.socket.connected")
    page.get_by_text("in an equivalence class smaller than 8.").wait_for()
    ask_for(page, 6)


def test_choices_are_undone_and_done_again(base, open_page) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    step(page, "Columns")
    give_role(page, "sex", "sensitive")
    ask_for(page, 9)
    button(page, "Undo").click()
    page.get_by_text("in an equivalence class smaller than 5.").wait_for()
    step(page, "Columns")
    column(page, "zip")
    page.locator(".sf-columns").evaluate("table => { table.stays = true; }")
    button(page, "Undo").click()
    page.locator("tr[data-column=sex][data-role=quasi-identifier]").wait_for()
    assert page.locator(".sf-columns").evaluate("table => table.stays")  # only what changed is drawn anew
    button(page, "Redo").click()
    page.locator("tr[data-column=sex][data-role=sensitive]").wait_for()
    page.locator(".sf-panel h3", has_text="zip").wait_for()  # the column at hand stays
    page.reload()
    page.locator(".sf-panel h3", has_text="zip").wait_for()


def test_a_project_is_saved_erased_and_opened_with_its_runs(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    anonymize(page)
    ask_for(page, 7)
    anonymize(page)
    view(page, "Runs")
    page.get_by_text(WORDS["runs"]).wait_for()
    button(page, "#1").click()
    page.get_by_text("Run 1", exact=True).wait_for()
    page.get_by_text(WORDS["earlier"]).wait_for()
    button(page, "#2").click()
    page.get_by_text("Run 2", exact=True).wait_for()
    plan = plan_of(page, tmp_path)
    step(page, "Data")
    with page.expect_download() as waiting:
        button(page, "Save project").click()
    waiting.value.save_as(tmp_path / "project.zip")
    button(page, WORDS["erase_project"]).click()
    page.get_by_role("dialog").get_by_role("button", name=WORDS["erase_project"]).click()
    page.get_by_text("300 rows,").wait_for(state="hidden")
    send(page, tmp_path / "project.zip", -1)
    page.locator(".sf-columns").wait_for()
    step(page, "Goal")
    page.get_by_text("in an equivalence class smaller than 7.").wait_for()
    step(page, "Result")
    page.get_by_text("Run 2", exact=True).wait_for()
    page.get_by_text(WORDS["report.holds"]).wait_for()
    step(page, "Release")
    assert downloaded(page, "Data", tmp_path / "data.csv").read_text(encoding="utf-8").count("\n") > 200
    plan["privacy"][0]["k"] = 12
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    plan["columns"]["stranger"] = {"role": "sensitive"}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    step(page, "Data")
    send(page, tmp_path / "other.yaml", -1)
    page.get_by_role("alert").filter(has_text="This plan is for other columns: stranger").wait_for()
    page.wait_for_timeout(500)  # the field is emptied after the file was refused, and takes the next one then
    send(page, tmp_path / "plan.yaml", -1)
    page.locator(".sf-columns").wait_for()
    step(page, "Goal")
    page.get_by_text("in an equivalence class smaller than 12.").wait_for()


def test_what_is_left_is_encrypted_and_only_its_browser_opens_it(server, open_page, tmp_path) -> None:
    jobs = tmp_path / "jobs"
    source = tmp_path / "people.csv"
    source.write_text("zip,illness\n" + "secret-town,flu\n" * 20)
    with server(jobs, "--session-hours", "0.001") as (base, process):
        page = open_page(f"{base}/app")
        send(page, source)
        page.get_by_text("20 rows,").wait_for()
        page.get_by_text("It is stored encrypted.").wait_for()
        assert not list(jobs.glob("session-*"))
        [sealed] = (jobs / "projects").glob("*.sealed")
        content = sealed.read_bytes()
        assert b"secret-town" not in content
        assert b"illness" not in content
        assert sealed.stat().st_mode & 0o077 == 0
        stranger = open_page(f"{base}/app")
        button(stranger, "patients").wait_for()
        assert stranger.get_by_text("20 rows,").count() == 0
        button(page, "Continue").click()
        page.get_by_text("20 rows,").wait_for()
        process.terminate()
        assert process.wait(40) == 0
    assert not list(jobs.glob("session-*"))
    assert all(b"secret-town" not in path.read_bytes() for path in jobs.rglob("*") if path.is_file())


def no_projects():
    """Files that are no projects, by what is wrong with them; the last is too large unpacked."""
    column = {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "/etc/passwd"}}
    goal = {"privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "optimal"}}
    plan = {"version": 1, "columns": {"a": {"role": "sensitive"}}, **goal}
    rows = {"rows.csv": "a\n" + "1\n" * 9}
    yield "no zip at all", None, None
    yield "no record", None, {"../rows.csv": "a\n1\n"}
    yield "a plan for nothing", {"plan": {}, "data": "rows.csv"}, rows
    yield "a file of the server", {"plan": {**plan, "columns": {"a": column}}, "data": "rows.csv"}, rows
    yield "a database", {"plan": plan, "data": "rows.duckdb"}, {"rows.duckdb": "x"}
    yield "too large", {"plan": plan, "data": "rows.csv"}, rows


def test_what_cannot_be_read_is_refused_and_the_project_at_hand_stays(base, open_page, folder, tmp_path) -> None:
    """A file that could not be read closed the project; so did any other file, without asking."""
    page = open_page(f"{base}/app")
    load_example(page)
    ask_for(page, 3)
    anonymize(page)
    step(page, "Data")
    folders = len(list(folder.glob("session-*")))
    for wrong, record, files in no_projects():
        path = tmp_path / f"{wrong}.zip"
        path.write_bytes(b"nothing")
        if files:
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in files.items():
                    archive.writestr(name, content)
                if record is not None:
                    archive.writestr("project.json", json.dumps(record))
                if wrong == "too large":  # as a file of zeros would say, without the time that packing it takes
                    archive.infolist()[0].file_size = 2_000_000_000
        send(page, path, 1)
        told = "exceeds the limit of this server" if wrong == "too large" else WORDS["no_project"]
        alert = page.get_by_role("alert").filter(has_text=told)
        alert.wait_for()
        assert page.get_by_text("300 rows,").count() == 1
        alert.get_by_role("button").click()
        alert.wait_for(state="detached")
    page.reload()
    page.get_by_text("300 rows,").wait_for()
    assert len(list(folder.glob("session-*"))) == folders
    (tmp_path / "wrong.parquet").write_bytes(b"no parquet at all")
    send(page, tmp_path / "wrong.parquet")
    page.get_by_role("alert").filter(has_text="The operation failed: wrong.parquet").wait_for()
    page.get_by_text("Your current project with the data of patients.csv is unchanged.").wait_for()
    page.get_by_text("300 rows,").wait_for()
    (tmp_path / "other.csv").write_text("town,illness\n" + "Ulm,flu\nBonn,cold\n" * 20)
    send(page, tmp_path / "other.csv")
    page.get_by_text("other.csv was read successfully. It starts a new project").wait_for()
    button(page, WORDS["replace.keep"]).click()
    page.get_by_text("300 rows,").wait_for()
    assert plan_now(page, tmp_path)["privacy"][0]["k"] == 3
    step(page, "Result")
    page.get_by_text(WORDS["report.holds"]).wait_for()
    step(page, "Data")
    send(page, tmp_path / "other.csv")
    button(page, WORDS["replace.take"]).click()
    page.get_by_text("40 rows, 2 columns").wait_for()
    step(page, "Result")
    page.get_by_text("Run 1", exact=True).wait_for(state="detached")


def test_a_project_remembers_how_its_file_is_read(base, open_page, tmp_path) -> None:
    """Decimal commas are found out and switched on the page, and stay when the project is opened again."""
    lines = "".join(f"Köln;{20 + n % 9};{1000 + n},50\n" for n in range(30))
    (tmp_path / "lohn.csv").write_text("ort;alter;lohn\n" + lines, encoding="cp1252")
    page = open_page(f"{base}/app")
    send(page, tmp_path / "lohn.csv")
    page.get_by_label(WORDS["encoding"]).click()
    page.get_by_role("option", name=WORDS["encoding.cp1252"]).click()
    page.get_by_text("30 rows, 3 columns").wait_for()
    page.get_by_role("cell", name="1000.50").first.wait_for()  # the comma was found out
    choose(page, "Decimal mark", "point")
    page.get_by_role("cell", name="1000,50").first.wait_for()
    choose(page, "Decimal mark", "comma")
    page.get_by_role("cell", name="1000.50").first.wait_for()
    plan = plan_now(page, tmp_path)
    assert plan["data"]["decimal"] == "," and plan["data"]["encoding"] == "cp1252"
    button(page, WORDS["erase_project"]).click()
    page.get_by_role("dialog").get_by_role("button", name=WORDS["erase_project"]).click()
    page.get_by_text("30 rows,").wait_for(state="hidden")
    send(page, tmp_path / "project.zip", -1)
    page.locator("tr[data-column=ort]").wait_for()
    assert plan_now(page, tmp_path) == plan
    page.get_by_role("cell", name="1000.50").first.wait_for()


def test_tables_and_records_survive_a_reload(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill("ward,n\nTotal,30\na,2\nb,28\n")
    page.wait_for_timeout(1500)  # fields tell what was typed after a while, and rules are offered anew
    page.get_by_label("To", exact=True).first.fill("4")
    page.keyboard.press("Tab")
    page.wait_for_timeout(1500)
    page.reload()
    page.locator("textarea").first.wait_for()
    assert page.locator("textarea").first.input_value().startswith("ward,n")
    assert page.get_by_label("To", exact=True).first.input_value() == "4"
    page.goto(f"{base}/app/attributes")
    page.get_by_text("as JSON").click()
    page.locator("textarea").first.fill('[{"town": "Ulm"}]')
    page.wait_for_timeout(900)
    page.reload()
    page.get_by_text("as JSON").click()
    assert page.locator("textarea").first.input_value() == '[{"town": "Ulm"}]'


def test_what_is_entered_in_two_tabs_is_never_lost_silently(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.wait_for()
    other = page.context.new_page()
    other.goto(f"{base}/app/tables")
    other.locator("textarea").first.wait_for()
    page.locator("textarea").first.fill("ward,n,firms\nTotal,30,9\na,2,4\nb,28,5\n")
    other.get_by_text(WORDS["other_tab.draft"]).wait_for()
    other.evaluate("document.querySelector('[inert]').removeAttribute('inert')")  # what was typed meanwhile
    other.locator("textarea").first.fill("lost,n\nTotal,1\n")
    page.wait_for_timeout(500)
    assert page.get_by_text(WORDS["other_tab.draft"]).count() == 0
    page.bring_to_front()
    choose(page, WORDS["value_column"], "firms")
    page.wait_for_timeout(300)
    button(other, "Reload").click()
    other.locator("label", has_text=WORDS["value_column"]).filter(has_text="firms").wait_for()
    assert other.locator("textarea").first.input_value().startswith("ward,n,firms")
    assert other.locator("[inert]").count() == 0
    other.goto(f"{base}/app/attributes")
    page.goto(f"{base}/app/attributes")
    other.get_by_text("as JSON").click()
    page.get_by_text("as JSON").click()
    page.locator("textarea").first.fill('[{"town": "Ulm"}]')
    other.get_by_text(WORDS["other_tab.draft"]).wait_for()
    button(other, "Reload").click()
    other.get_by_text("as JSON").click()
    assert other.locator("textarea").first.input_value() == '[{"town": "Ulm"}]'
