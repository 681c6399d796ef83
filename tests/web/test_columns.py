"""The columns step: roles, hierarchies, transforms; workbooks with several sheets."""

import random
import re

import openpyxl
import pytest
import yaml
from walking import (
    GERMAN,
    WORDS,
    anonymize,
    button,
    choose,
    column,
    downloaded,
    give_role,
    load_example,
    plan_now,
    send,
    step,
)

from sfumato.localization.messages import words_in
from sfumato.web.microdata.column_drawings import histogram
from sfumato.web.microdata.columns_table import ColumnsTable, role_says
from sfumato.web.projects.loaded_data import LoadedColumn, load
from sfumato.web.projects.workspace import Workspace

# A number with a decimal point.
POINTS = re.compile(r"\d\.\d")


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


# Whether some columns are hidden, and those that are shown are all that have a role.
ONLY_ONE_ROLE = """(role) => {
  const rows = [...document.querySelectorAll('.sf-columns tbody tr')];
  return rows.some((row) => row.hidden) && rows.every((row) => row.hidden === (row.dataset.role !== role));
}"""


def test_sixty_columns_are_found_and_changed_by_many(base, open_page, wide) -> None:
    page = open_page(f"{base}/app", width=1600)
    send(page, wide)
    page.get_by_text("300 rows, 60 columns").wait_for()
    step(page, "Columns")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr:not([hidden])').length === 60")
    page.get_by_label(WORDS["find"]).fill("answer_1")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr:not([hidden])').length === 10")
    page.get_by_label(WORDS["select_all"]).check()
    page.get_by_label(WORDS["bulk"]).click()
    page.locator(".q-menu").get_by_role("option", name="insensitive", exact=True).click()
    changed = "tr[data-column^=answer_1][data-role=insensitive]"
    page.wait_for_function(f"document.querySelectorAll('{changed}').length === 10")
    button(page, "Undo").click()  # one choice, however many columns
    page.wait_for_function(f"document.querySelectorAll('{changed}').length === 0")
    # What is sought stays sought in the table that is built anew.
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr').length === 60")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr:not([hidden])').length === 10")
    assert page.get_by_label(WORDS["find"]).input_value() == "answer_1"
    button(page, "Redo").click()
    page.wait_for_function(f"document.querySelectorAll('{changed}').length === 10")
    page.get_by_label(WORDS["find"]).fill("")
    give_role(page, "answer_55", "insensitive")
    page.get_by_label(WORDS["filter"]).select_option("quasi-identifier")
    page.wait_for_function(ONLY_ONE_ROLE, arg="quasi-identifier")
    button(page, "Undo").click()  # the role that is shown stays chosen
    page.locator("tr[data-column=answer_55]:not([data-role=insensitive])").wait_for(state="attached")
    assert page.get_by_label(WORDS["filter"]).input_value() == "quasi-identifier"
    page.wait_for_function(ONLY_ONE_ROLE, arg="quasi-identifier")
    step(page, "Data")
    step(page, "Columns")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr').length === 60")
    page.wait_for_function(ONLY_ONE_ROLE, arg="quasi-identifier")


def test_what_columns_hold_is_drawn_before_somebody_looks(wide, tmp_path) -> None:
    loaded = load(wide)
    workspace = Workspace(None, folder=tmp_path, loaded=loaded, plan=loaded.suggested)
    table = ColumnsTable(workspace)
    table.draw_ahead()
    ahead = dict(workspace.drawings)
    assert {name for name, _ in ahead} == {column.name for column in loaded.columns}
    table.html(), table.more()
    assert workspace.drawings == ahead


ENTER = """([place, sign]) => new Promise((done) => {
  const enter = document.querySelectorAll('.sf-step')[place];
  const seen = () => {
    if (enter.getAttribute('aria-current') !== 'step' || !document.querySelector(sign)) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(document.querySelectorAll('.sf-page *').length)));
  };
  const watch = new MutationObserver(seen);
  watch.observe(document.body, {subtree: true, childList: true, attributes: true});
  enter.click();
})"""


def test_a_step_with_sixty_columns_is_entered_by_few_messages_and_nodes(base, open_page, wide) -> None:
    """Where time goes in a step: a message for each column, or rows that nobody sees, would be slow on any machine."""
    page = open_page(f"{base}/app", width=1600)
    send(page, wide)
    page.get_by_text("300 rows, 60 columns").wait_for()
    asked, frames = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(len(data))))
    with page.expect_response("**/input.js"):  # parts of fields are fetched before a step asks for them
        page.reload()
    page.get_by_text("300 rows, 60 columns").wait_for()
    signs = {1: ".sf-columns tbody tr", 2: ".sf-panel-first", 3: ".sf-head", 4: ".sf-head", 0: ".sf-table"}
    for place, sign in signs.items():
        page.wait_for_timeout(400)  # what the step before does when it was seen
        asked.clear(), frames.clear()
        assert page.evaluate(ENTER, [place, sign]) < 700
        assert (asked, len(frames) < 8, sum(frames) < 90_000) == ([], True, True)
    page.wait_for_function("document.querySelectorAll('.sf-table th').length === 60")  # those out of sight follow
    step(page, "Columns")
    page.wait_for_function("document.querySelectorAll('.sf-columns tbody tr').length === 60")


# The numbers below cuts that lie on another, and the labels of fields that are cut for want of room.
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('.sf-cut span')].map((one) => one.getBoundingClientRect());
  return boxes.filter((a, place) => boxes.slice(place + 1).some((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
}"""
CUT_LABELS = """() => [...document.querySelectorAll('.sf-panel .q-field__label')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"""


def test_a_german_page_has_decimal_commas_and_labels_that_are_read_whole(base, open_page, tmp_path) -> None:
    """Ladders, charts and rows of the result showed points beside commas; numbers below cuts lay on one another."""
    heights = "\n".join(f"{1.4 + n % 20 / 40:.3f};{'abc'[n % 3]}" for n in range(120))
    (tmp_path / "heights.csv").write_text(f"height;job\n{heights}\n", encoding="utf-8")
    page = open_page(f"{base}/app", width=390, locale="de-DE")
    send(page, tmp_path / "heights.csv")
    page.get_by_text("120 Zeilen,").wait_for()
    step(page, "Spalten")
    for name in ("height", "job"):
        give_role(page, name, "quasi-identifier", label="Rolle")
    column(page, "height")
    choose(page, GERMAN["hierarchy.kind"], "Intervalle")
    page.locator(".sf-panel .sf-tree").wait_for()
    assert POINTS.search(page.locator(".sf-panel .sf-tree").inner_text()) is None
    button(page, "Nach Schnitten").click()
    page.locator(".sf-cut").nth(3).wait_for()
    for width in (390, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"({OVERLAPS})() === 0", timeout=5000)
        assert page.evaluate(CUT_LABELS) == []
    column(page, "job")
    choose(page, GERMAN["hierarchy.kind"], GERMAN["hierarchy.kind.tree"])
    page.get_by_label(GERMAN["hierarchy.new_group"]).fill("beide")
    assert page.evaluate(CUT_LABELS) == []
    page.keyboard.press("Enter")
    page.locator(".sf-group[data-group=beide]").wait_for()
    give_role(page, "job", "sensitive", label="Rolle")
    step(page, "Ziel")
    step(page, "Ergebnis")
    button(page, "Anonymisieren").click()
    page.locator(".sf-kept").first.wait_for()
    drawn = page.locator("details svg text").all_text_contents()
    assert any("," in text for text in drawn) and not any(POINTS.search(text) for text in drawn)
    page.get_by_role("tab", name="Zeilen").click()
    page.locator("td.raw").first.wait_for()
    assert POINTS.search(" ".join(page.locator(".sf-table td").all_text_contents())) is None


def test_intervals_and_groups_are_made_by_dragging_and_by_keyboard(base, open_page, tmp_path) -> None:
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
    column(page, "work_type")
    page.get_by_label(WORDS["hierarchy.kind"]).click()
    page.get_by_role("option", name=WORDS["hierarchy.kind.tree"]).click()
    page.get_by_label(WORDS["hierarchy.new_group"]).fill("Private")
    button(page, "Add group").click()
    alert = page.get_by_role("alert").filter(has_text="Private is a value of this column.")
    alert.get_by_role("button").click()  # it lies over the button below
    alert.wait_for(state="detached")
    assert page.locator(".sf-group[data-group=Private]").count() == 0
    page.get_by_label(WORDS["hierarchy.new_group"]).fill("employed")
    button(page, "Add group").click()
    group = page.locator(".sf-group[data-group=employed]")
    page.locator(".sf-value[data-value=Private]").drag_to(group)
    group.locator(".sf-value[data-value=Private]").wait_for()
    page.locator(".sf-value[data-value=Govt_job]").focus()
    page.keyboard.press("Enter")
    group.locator(".sf-send").focus()
    page.keyboard.press("Enter")
    group.locator(".sf-value[data-value=Govt_job]").wait_for()
    hierarchies = {name: entry.get("hierarchy") for name, entry in plan_now(page, tmp_path)["columns"].items()}
    assert int(moved) in hierarchies["age"]["bounds"][0]
    parents = hierarchies["work_type"]["parents"]
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
    column = LoadedColumn("age", {"32": 1, "82": 3}, 0)
    shape = histogram(column, 10, (20, 100))
    assert (shape.low, shape.high) == (20, 100)
    assert [place for place, rows in enumerate(shape.rows) if rows] == [1, 7]  # of ten bars of 8 years each


def test_codes_for_missing_values_are_said_of_one_column_and_stay(base, open_page, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    ages = [str(20 + row % 50) if row % 10 else "99" for row in range(300)]
    lines = [f"{age},{(20, 38, 99)[row % 3]},{'mf'[row % 2]}" for row, age in enumerate(ages)]
    path.write_text("age,hours,sex\n" + "\n".join(lines) + "\n", encoding="utf-8")
    page = open_page(f"{base}/app", width=1600)
    send(page, path)
    page.get_by_text("300 rows, 3 columns").wait_for()
    step(page, "Columns")
    column(page, "age")
    page.get_by_text("46 values").first.wait_for()
    page.get_by_label(WORDS["column.missing"]).fill("99, refused")
    page.get_by_text("45 values, 30 missing").first.wait_for()
    give_role(page, "age", "sensitive")
    give_role(page, "age", "quasi-identifier")
    column(page, "sex")
    column(page, "age")
    assert page.get_by_label(WORDS["column.missing"]).input_value() == "99, refused"
    columns = plan_now(page, tmp_path)["columns"]
    assert columns["age"]["missing"] == [99, "refused"]
    assert "missing" not in columns["hours"]


ROWS = "person;zip;pay;region;smoker\n" + "".join(
    f"{n // 2};{10000 + n % 4};{1000 + 37 * n};{'ns'[n % 2]};{'yes' if n % 3 else 'no'}\n" for n in range(40)
)


def publish(page, name, how):
    column(page, name)
    choose(page, "transform", how)


def test_every_way_to_publish_a_column_has_fields(base, open_page, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    page = open_page(f"{base}/app", width=1600)
    send(page, tmp_path / "rows.csv")
    page.get_by_text("40 rows,").wait_for()
    step(page, "Columns")
    for name, role in (("person", "person"), ("zip", "quasi-identifier"), ("region", "quasi-identifier")):
        give_role(page, name, role)
    for name in ("pay", "smoker"):
        give_role(page, name, "insensitive")
    publish(page, "person", "random key")
    publish(page, "pay", WORDS["publish.coded"])
    page.locator(".sf-panel").get_by_text("It is published as chosen below.").wait_for()
    assert page.get_by_text("It is published unchanged").count() == 0
    page.get_by_label(WORDS["publish.swap.round"]).fill("500")
    publish(page, "smoker", "PRAM")
    page.get_by_label(WORDS["publish.pram.retention"]).fill("0.8")
    page.get_by_label(WORDS["publish.pram.strata"]).click()
    page.get_by_role("option", name="region", exact=True).click()
    page.keyboard.press("Escape")
    page.locator("tr[data-column=smoker]", has_text="PRAM").wait_for()
    columns = plan_now(page, tmp_path)["columns"]
    assert columns["person"]["publish"] == "key"
    assert columns["pay"]["publish"] == {"top": {"share": 0.99}, "round": 500}
    assert columns["smoker"]["publish"] == {"pram": {"retention": 0.8, "strata": ["region"]}}
    step(page, "Columns")
    publish(page, "pay", "microaggregated")
    page.get_by_label(WORDS["publish.microaggregate.k"]).fill("1")
    page.get_by_text("must be at least 2").wait_for()
    give_role(page, "person", "identifier")
    step(page, "Goal")
    choose(page, "Method", "local suppression")
    page.get_by_label("zip", exact=True).fill("4")
    page.get_by_label("region: never suppress").click()
    page.get_by_label("region", exact=True).and_(page.locator("[disabled]")).wait_for()
    plan = plan_now(page, tmp_path)
    assert plan["columns"]["zip"]["importance"] == 4 and plan["columns"]["region"]["importance"] == "never"
    assert button(page, "Save project").is_visible()


def test_what_is_withheld_until_somebody_decides_names_nobody() -> None:
    words = words_in()
    says = [role_says(words, {"role": role}) for role in ("undecided", "identifier")]
    assert says == [words["columns.says.undecided"], words["columns.says.identifier"]] and says[0] != says[1]


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
