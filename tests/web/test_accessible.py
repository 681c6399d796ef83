"""Access: no serious fault by axe, work by keyboard, printed reports."""

import re
from contextlib import closing

import polars as pl
import pytest
from walking import GERMAN

from sfumato.datasets import patients
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.tables.protect import run_plan
from sfumato.tables.plan.table_plan import read_table_plan

RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .filter((found) => ['critical', 'serious'].includes(found.impact))
  .map((found) => `${found.id}: ${found.nodes[0].html.slice(0, 200)}`)"""
# Texts that end in "…" for want of room; where tables are wide, one scrolls.
CUT = """() => [...document.querySelectorAll('main *, .q-page *')].filter((one) => {
  const style = getComputedStyle(one);
  return style.textOverflow === 'ellipsis' && style.overflow !== 'visible' && one.scrollWidth > one.clientWidth + 1
    && one.offsetParent && !one.closest('.sf-rungs, .bars, svg');
}).map((one) => one.innerText || one.value).filter((text) => text)"""
ENGLISH = re.compile(r"\b(the|of|and|is|are|its|which|that|by|to)\b")
POINT = re.compile(r"(?<![\d.,v])\d+\.\d{1,2}(?![\d.])")
SCREENS = [("en-US", "light", 1100), ("de-DE", "dark", 390)]
VIEWS = {1: ".sf-attacker", 2: ".sf-card > .q-btn", 3: ".sf-lattice", 4: "td.changed", 5: ".sf-table"}


def enter(page, place):
    if page.viewport_size["width"] < 900:
        page.locator(".sf-topbar button").click()
    page.locator(".sf-step").nth(place).click()
    page.locator(f".sf-step >> nth={place}").and_(page.locator("[aria-current=step]")).wait_for(state="attached")
    page.locator(".q-drawer__backdrop").wait_for(state="hidden")


def sayings(page):
    """The lines of a page that are neither rows of data nor code, nor show how numbers are written in a file."""
    code = "\n".join(page.locator(".q-page pre").all_inner_texts()).split("\n")
    lines = page.locator(".q-page").inner_text().split("\n")
    return [one for one in lines if "\t" not in one and one not in code and not one.endswith(" 1.5")]


# What has the focus, and how that is seen: an outline of its own or around it, or the frame or line of a field.
FOCUS = """async () => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const field = one.closest('.q-field'), frame = field && field.querySelector('.q-field__control');
  const marks = [one, one.parentElement].map((near) => getComputedStyle(near))
    .filter((style) => ['solid', 'auto'].includes(style.outlineStyle)).map((style) => style.outlineWidth);
  if (frame) {
    const after = getComputedStyle(frame, '::after'), drawn = new DOMMatrix(after.transform).a === 1;
    marks.push(after.borderTopWidth, drawn && parseFloat(after.height) < 5 ? after.height : '0');
  }
  return {name: one.getAttribute('aria-label') || one.innerText, seen: marks.some((width) => parseFloat(width) >= 2)};
}"""


@pytest.mark.parametrize("area", ["app", "app/tables", "app/attributes"])
def test_who_walks_by_keyboard_sees_where_he_is_and_comes_out_again(base, open_page, area) -> None:
    page = open_page(f"{base}/{area}")
    page.locator(".sf-nav").wait_for()
    if area == "app":
        page.get_by_role("button", name="patients", exact=True).click()
        page.locator(".sf-table").wait_for()
        page.evaluate("document.activeElement.blur()")
    walked = []
    for _ in range(100):
        page.keyboard.press("Tab")
        if (stop := page.evaluate(FOCUS)) is None:
            break
        walked.append(stop)
    assert 10 < len(walked) < 100, "the way ends"
    assert not [stop["name"] for stop in walked if not stop["seen"]]


@pytest.mark.parametrize(("locale", "scheme", "width"), SCREENS)
def test_no_screen_has_a_serious_fault(base, open_page, axe, locale, scheme, width) -> None:
    page = open_page(f"{base}/app", locale=locale, color_scheme=scheme, width=width)
    faults, strange, cut = {}, {}, {}

    def look(name):
        cut[name] = page.evaluate(CUT)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width + 1
        if locale == "de-DE" and name != "help":
            strange[name] = [one for one in sayings(page) if len(set(ENGLISH.findall(one))) > 1 or POINT.search(one)]
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe)
        faults[name] = page.evaluate(RUN)

    page.get_by_role("button", name="patients", exact=True).click()
    page.locator(".sf-table").wait_for()
    look("data")
    enter(page, 1)
    page.locator(".sf-panel h3").wait_for()
    look("columns")
    enter(page, 2)
    page.locator(".sf-panel .tile").first.wait_for()
    look("goal")
    enter(page, 3)
    page.locator(".sf-head .q-btn").first.click()
    page.locator(".verdict").first.wait_for()
    look("result")
    for place, sign in VIEWS.items():
        page.get_by_role("tab").nth(place).click()
        if place == 2 and scheme == "light":  # one attack is enough: it takes its time
            page.locator(".sf-card > .q-btn").last.click()
            page.locator(".sf-card .sf-table").wait_for()
        if place == 3:
            page.locator(".sf-card .q-btn").first.click()
            page.locator(".sf-small-toggle .q-btn").last.click()
        page.locator(sign).first.wait_for()
        look(f"view {place}")
    enter(page, 4)
    page.locator(".sf-box-in").wait_for()
    look("release")
    for area, sign in (("tables", ".sf-ways"), ("attributes", "td.changed"), ("help", ".sf-document")):
        page.goto(f"{base}/app/{area}")
        page.locator(".sf-head h2").wait_for()
        if area == "tables":
            page.locator(".sf-run .q-btn").last.click()
        if area == "help":
            page.locator(".sf-index button").first.click()
        page.locator(sign).first.wait_for()
        look(area)
    assert {name: found for name, found in faults.items() if found} == {}
    assert {name: found for name, found in strange.items() if found} == {}
    assert {name: found for name, found in cut.items() if found} == {}


LONG = "Krankenhausaufenthaltsdauer_insgesamt_in_Tagen_seit_der_Einweisung_ohne_Urlaub"
# Texts that reach beyond the card they stand in.
BEYOND = """() => [...document.querySelectorAll('.verdict li, .verdict p, .card h3')].filter((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return range.getBoundingClientRect().right > one.closest('.verdict, .card').getBoundingClientRect().right;
}).map((one) => one.innerText)"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A release with a long name, whose reports speak German."""
    place = tmp_path_factory.mktemp("reports")
    rows = patients().to_polars()
    rows = rows.with_columns(pl.Series(LONG, [str(1 + 7 * row % 40) for row in range(len(rows))]))
    plan = patients().plan("patients.csv", 4) | {"language": "de", "method": {"name": "mondrian"}}
    plan |= {"release": {"purpose": "Versorgungsforschung", "recipient": "Krankenhausgesellschaft"}}
    plan["columns"] |= {LONG: {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    plan.pop("data")
    with closing(anonymize(rows, plan)) as release:
        yield release.save(place / "out")


CELLS = """Stadtteil,Staatsangehörigkeit,n
Total,Total,104
Total,deutsch,50
Total,andere,54
Altstadt-Lehel,Total,26
Altstadt-Lehel,deutsch,2
Altstadt-Lehel,andere,24
Schwanthalerhöhe,Total,78
Schwanthalerhöhe,deutsch,48
Schwanthalerhöhe,andere,30
"""

# A4 without its margins, in the pixels of a browser.
PAPER = 673
TORN = """() => {
  const torn = [];
  for (const cell of document.querySelectorAll('td, th')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());)
      for (const word of node.data.matchAll(/[^\\s\\-–]{2,23}/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) torn.push(word[0]);
      }
  }
  return torn.filter((word) => !/^[0-9a-f]{16,}$/.test(word) && !'LONG'.includes(word));
}""".replace("LONG", LONG)
# Headings, and sentences before tables and pictures, after which a page may end.
# What stands in a line with others keeps nothing: its break is its block's.
LOOSE = """() => [...document.querySelectorAll('h2, h3, p, .legend, .verdict strong')].filter((one) => {
  const next = one.nextElementSibling, style = getComputedStyle(one);
  const heads = one.matches('h2, h3, strong') || (next && next.matches('.wide, .bars, .legend, .columns, figure, ul'));
  return heads && next && (style.breakAfter !== 'avoid' || style.display === 'inline');
}).map((one) => one.innerText)"""


@pytest.fixture(scope="module")
def table_folder(tmp_path_factory):
    """A protected table whose reports speak German."""
    place = tmp_path_factory.mktemp("printed-table")
    (place / "cells.csv").write_text(CELLS, encoding="utf-8")
    plan = {
        "version": 1,
        "table": {"source": "cells.csv", "value": "n"},
        "dimensions": {"Stadtteil": {"column": "Stadtteil"}, "Staatsangehörigkeit": {"column": "Staatsangehörigkeit"}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
        "release": {"purpose": "Versorgungsforschung", "recipient": "Krankenhausgesellschaft"},
        "language": "de",
    }
    run_plan(read_table_plan(plan, place)).save(place / "out")
    return place / "out"


@pytest.mark.parametrize("name", ["report", "report-external"])
@pytest.mark.parametrize("kind", ["reports", "table_folder"])
def test_no_report_has_a_serious_fault_on_a_screen_a_phone_or_paper(open_page, axe, kind, name, request) -> None:
    """Nothing reaches beyond its card or the page, no word of a table is torn, no heading parted from what follows."""
    page = open_page((request.getfixturevalue(kind) / f"{name}.html").as_uri(), width=1100)
    page.evaluate(axe)
    for width in (1100, 390, PAPER):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media="print" if width == PAPER else "screen")
        if width != PAPER:
            assert page.evaluate(RUN) == []
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width + 1
        if width != 1100:
            assert page.evaluate(TORN) == []
        assert page.evaluate(BEYOND) == []
    assert page.evaluate(LOOSE) == []
    assert page.locator("td").count() > (20 if kind == "reports" else 10)
    assert page.locator("pre").count() == (name == "report")
    assert all(plan.is_visible() for plan in page.locator("pre").all()), "the plan is printed"
    assert page.get_by_text(GERMAN["external.group"]).count() == 0
