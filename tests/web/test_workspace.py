"""Nothing is lost: reload, back, two tabs, a lost connection, undo, projects saved, opened, put away and erased."""

import re
import time

import pytest
import yaml


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def step(page, name):
    page.locator(".sf-step", has_text=name).click()
    page.locator(".sf-step[aria-current=step]", has_text=name).wait_for()


def loaded(page, name="patients", rows="300"):
    button(page, name).click()
    page.get_by_text(f"{rows} rows,").wait_for()


def k_field(page):
    return page.get_by_label("Rows that must look alike (k)")


def ask_for(page, k):
    step(page, "Goal")
    k_field(page).fill(str(k))
    page.get_by_text(f"are in groups smaller than {k} now").wait_for()


def run(page, number=1):
    step(page, "Result")
    page.get_by_role("button", name=re.compile("^Anonymize")).click()
    page.get_by_text(f"Run {number}", exact=True).wait_for()


def test_every_step_survives_a_reload(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    page.reload()
    page.get_by_text("300 rows,").wait_for()
    step(page, "Columns")
    page.get_by_label("role: illness").select_option("insensitive")
    page.locator("tr[data-column=illness][data-role=insensitive]").wait_for()
    page.reload()
    page.locator("tr[data-column=illness][data-role=insensitive]").wait_for()
    ask_for(page, 7)
    page.reload()
    page.get_by_text("are in groups smaller than 7 now").wait_for()
    assert k_field(page).input_value() == "7"
    run(page)
    page.reload()
    page.get_by_text("You may publish this, as promised.").wait_for()
    step(page, "Release")
    page.reload()
    page.get_by_text("May leave the house", exact=True).wait_for()


def test_who_leaves_while_a_run_is_made_finds_it_again(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page, "census", "30,000")
    step(page, "Result")
    button(page, "Anonymize").click()
    button(page, "Cancel").wait_for()
    page.reload()
    page.get_by_text("You may publish this, as promised.").wait_for()


def test_the_back_button_leads_to_the_step_before(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    for name in ("Columns", "Goal", "Result"):
        step(page, name)
    for name in ("Goal", "Columns"):
        page.go_back()
        page.locator(".sf-step[aria-current=step]", has_text=name).wait_for()
    page.go_forward()
    page.locator(".sf-step[aria-current=step]", has_text="Goal").wait_for()


def test_two_tabs_show_the_same_project(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    other = page.context.new_page()
    other.goto(f"{base}/app")
    other.get_by_text("300 rows,").wait_for()
    ask_for(page, 9)
    step(other, "Goal")
    other.get_by_text("are in groups smaller than 9 now").wait_for()
    assert k_field(other).input_value() == "9"


def test_a_lost_connection_loses_nothing(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    ask_for(page, 8)
    page.context.set_offline(True)
    time.sleep(2)
    page.context.set_offline(False)
    page.wait_for_function("window.socket.connected")
    page.get_by_text("are in groups smaller than 8 now").wait_for()
    ask_for(page, 6)


def test_choices_are_undone_and_done_again(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    step(page, "Columns")
    page.get_by_label("role: sex").select_option("sensitive")
    page.locator("tr[data-column=sex][data-role=sensitive]").wait_for()
    ask_for(page, 9)
    button(page, "Undo").click()
    page.get_by_text("are in groups smaller than 5 now").wait_for()
    step(page, "Columns")
    button(page, "Undo").click()
    page.locator("tr[data-column=sex][data-role=quasi-identifier]").wait_for()
    button(page, "Redo").click()
    page.locator("tr[data-column=sex][data-role=sensitive]").wait_for()


def test_a_project_is_saved_erased_and_opened(base, open_page, folder, tmp_path) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    ask_for(page, 7)
    step(page, "Data")
    with page.expect_download() as waiting:
        button(page, "Save project").click()
    waiting.value.save_as(tmp_path / "project.zip")
    button(page, "Erase everything here").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase everything here").click()
    page.get_by_text("300 rows,").wait_for(state="hidden")
    page.locator("input[type=file]").last.set_input_files(tmp_path / "project.zip")
    page.locator(".sf-columns").wait_for()
    step(page, "Goal")
    page.get_by_text("are in groups smaller than 7 now").wait_for()


def test_a_plan_is_opened_for_the_data_at_hand(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    run(page)
    step(page, "Release")
    with page.expect_download() as waiting:
        button(page, "Plan").click()
    plan = yaml.safe_load(waiting.value.path().read_text(encoding="utf-8"))
    plan["privacy"][0]["k"] = 12
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    plan["columns"]["stranger"] = {"role": "sensitive"}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    step(page, "Data")
    page.locator("input[type=file]").last.set_input_files(tmp_path / "other.yaml")
    page.get_by_role("alert").filter(has_text="This plan is for other columns: stranger").wait_for()
    page.locator("input[type=file]").last.set_input_files(tmp_path / "plan.yaml")
    page.locator(".sf-columns").wait_for()
    step(page, "Goal")
    page.get_by_text("are in groups smaller than 12 now").wait_for()


def test_runs_stand_side_by_side(base, open_page) -> None:
    page = open_page(f"{base}/app")
    loaded(page)
    run(page)
    ask_for(page, 20)
    run(page, 2)
    page.get_by_text("Runs side by side").wait_for()
    button(page, "#1").click()
    page.get_by_text("Run 1", exact=True).wait_for()
    page.get_by_text("This result is of earlier columns or an earlier goal.").wait_for()


def test_what_is_left_is_encrypted_and_only_its_browser_opens_it(server, open_page, tmp_path) -> None:
    jobs = tmp_path / "jobs"
    source = tmp_path / "people.csv"
    source.write_text("zip,illness\n" + "secret-town,flu\n" * 20)
    with server(jobs, "--session-hours", "0.001") as (base, process):
        page = open_page(f"{base}/app")
        page.locator("input[type=file]").first.set_input_files(source)
        page.get_by_text("20 rows,").wait_for()
        page.get_by_text("Your project is kept, encrypted.").wait_for()
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


@pytest.mark.parametrize("name", ["no zip at all", "zip without a project"])
def test_what_is_no_project_is_refused(base, open_page, tmp_path, name) -> None:
    import zipfile

    path = tmp_path / "project.zip"
    path.write_bytes(b"nothing")
    if "without" in name:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("../rows.csv", "a\n1\n")
    page = open_page(f"{base}/app")
    page.locator("input[type=file]").last.set_input_files(path)
    page.get_by_role("alert").filter(has_text="This is no project of Sfumato.").wait_for()
