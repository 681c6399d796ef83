"""Columns as a table: found, filtered, changed by many; ladders made by dragging and by keyboard, checked at once."""

import random

import pytest
from walking import button, column, load_example, plan_now, send, step

from sfumato.web.projects.loaded_data import Column
from sfumato.web.rows.columns.column_figures import histogram


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A file of sixty columns."""
    path, drawn = tmp_path_factory.mktemp("wide") / "wide.csv", random.Random(1)
    names = ["id", "age", "sex", *(f"answer_{place:02d}" for place in range(57))]
    rows = [
        [str(n), str(drawn.randint(18, 90)), drawn.choice("mf"), *(drawn.choice("abc") for _ in range(57))]
        for n in range(300)
    ]
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n", encoding="utf-8")
    return path


def test_sixty_columns_are_found_and_changed_by_many(base, open_page, wide) -> None:
    page = open_page(f"{base}/app", width=1600)
    send(page, wide)
    page.get_by_text("300 rows, 60 columns").wait_for()
    step(page, "Columns")
    rows = page.locator(".sf-columns tbody tr:visible")
    assert rows.count() == 60
    page.get_by_label("Find a column").fill("answer_1")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr:not([hidden])').length === 10")
    page.get_by_label("Select all columns shown").check()
    page.get_by_label("Role for the selected").click()
    page.locator(".q-menu").get_by_role("option", name="identifier", exact=True).click()
    changed = "tr[data-column^=answer_1][data-role=identifier]"
    page.wait_for_function(f"document.querySelectorAll('{changed}').length === 10")
    page.get_by_label("Find a column").fill("")
    page.get_by_label("Show columns of a role").select_option("identifier")
    count = page.locator("tr[data-role=identifier]").count()
    page.wait_for_function(f"document.querySelectorAll('.sf-columns tbody tr:not([hidden])').length === {count}")


def test_intervals_are_made_by_dragging_cuts(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app", width=1600)
    load_example(page, "stroke", "200")
    step(page, "Columns")
    column(page, "age")
    button(page, "By cuts").click()
    cut = page.get_by_role("slider", name="cut").nth(1)
    cut.wait_for()
    before = cut.get_attribute("aria-valuenow")
    box = cut.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 12, box["y"] + 20, steps=4)
    page.mouse.up()
    dragged = cut.get_attribute("aria-valuenow")
    assert dragged != before
    cut.focus()
    page.keyboard.press("ArrowRight")
    moved = str(int(dragged) + 1)
    page.wait_for_function(f"document.querySelectorAll('.sf-cut')[1].getAttribute('aria-valuenow') === '{moved}'")
    bounds = plan_now(page, tmp_path)["columns"]["age"]["hierarchy"]["bounds"]
    assert int(moved) in bounds[0]


def test_groups_are_made_by_dragging_values_and_by_keyboard(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app", width=1600)
    load_example(page, "stroke", "200")
    step(page, "Columns")
    column(page, "work_type")
    page.get_by_label("How it becomes coarser").click()
    page.get_by_role("option", name="groups of values").click()
    page.get_by_label("Name of a new group").fill("Private")
    button(page, "Add group").click()
    page.get_by_role("alert").filter(has_text="Private is a value of this column.").wait_for()
    assert page.locator(".sf-group[data-group=Private]").count() == 0
    page.get_by_label("Name of a new group").fill("employed")
    button(page, "Add group").click()
    group = page.locator(".sf-group[data-group=employed]")
    page.locator(".sf-value[data-value=Private]").drag_to(group)
    group.locator(".sf-value[data-value=Private]").wait_for()
    page.locator(".sf-value[data-value=Govt_job]").focus()
    page.keyboard.press("Enter")
    group.locator(".sf-send").focus()
    page.keyboard.press("Enter")
    group.locator(".sf-value[data-value=Govt_job]").wait_for()
    parents = plan_now(page, tmp_path)["columns"]["work_type"]["hierarchy"]["parents"]
    assert {name for name, parent in parents.items() if parent == "employed"} == {"Private", "Govt_job"}


def test_dates_are_told_by_the_rungs_that_are_wanted(base, open_page, tmp_path) -> None:
    page = open_page(f"{base}/app", width=1600)
    load_example(page)
    step(page, "Columns")
    column(page, "date_of_birth")
    boxes = page.locator(".sf-panel").get_by_role("checkbox").all()
    names = ["half-month", "month", "quarter", "half-year", "year", "decade", "century", "millennium"]
    wanted = ["half-month", "quarter", "year", "century"]
    there = [box.get_attribute("aria-checked") == "true" for box in boxes]
    for name, box, checked in zip(names, boxes, there, strict=True):
        if checked != (name in wanted):
            box.click(delay=0)  # as quick as a hand can; no choice is lost
    levels = plan_now(page, tmp_path)["columns"]["date_of_birth"]["hierarchy"]["levels"]
    assert levels == wanted


def test_bars_and_cuts_stand_on_one_axis() -> None:
    column = Column("age", {"32": 1, "82": 3}, 0)
    shape = histogram(column, 10, (20, 100))
    assert (shape.low, shape.high) == (20, 100)
    assert [place for place, rows in enumerate(shape.rows) if rows] == [1, 7]  # of ten bars of 8 years each
