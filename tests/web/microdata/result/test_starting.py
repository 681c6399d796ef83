"""Runs that are started: one for each plan, however often a button is clicked."""

import re

from walking import answer_late, button, k_field, load_example, step


def jobs_in(folder):
    return {place.name for place in folder.iterdir() if re.fullmatch("[0-9a-f]{32}", place.name)}


def test_a_button_that_is_clicked_again_starts_no_second_run(base, open_page, folder) -> None:
    """Until the first was known to be under way another began, which nobody saw, could end, or got the result of."""
    page = open_page(f"{base}/app")
    load_example(page)
    step(page, "Result")
    before = jobs_in(folder)
    answer_late(page, 1)
    for _ in range(3):
        button(page, "Anonymize").click()
    page.get_by_text("Run 1", exact=True).wait_for()
    assert len(jobs_in(folder) - before) == 1


def test_a_run_of_another_plan_ends_the_one_under_way(base, open_page, folder, no_new_workers) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    step(page, "Result")
    before = jobs_in(folder)
    with no_new_workers():
        button(page, "Anonymize").click()
        page.get_by_text("Waiting …").wait_for()
        step(page, "Goal")
        k_field(page).fill("7")
        page.get_by_text("The plan is valid and can be run.", exact=False).wait_for()
        step(page, "Result")
        button(page, "Anonymize").click()
        page.wait_for_timeout(2000)
    page.get_by_text("Run 1", exact=True).wait_for()
    page.get_by_text("is shared by at least 7 rows").wait_for()
    assert len(jobs_in(folder) - before) == 1


def test_other_methods_are_compared_once(base, open_page, folder) -> None:
    page = open_page(f"{base}/app")
    load_example(page, "eight-rows", "8")
    step(page, "Result")
    button(page, "Anonymize").click()
    page.get_by_text("Run 1", exact=True).wait_for()
    page.get_by_role("tab", name="Alternatives").click()
    before = jobs_in(folder)
    button(page, "Compare methods").wait_for()
    answer_late(page, 1)
    for _ in range(3):
        button(page, "Compare methods").click()
    page.locator(".sf-table").first.wait_for()
    assert len(jobs_in(folder) - before) == 1
