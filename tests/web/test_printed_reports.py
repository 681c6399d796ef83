"""Reports on paper: no word of a table is torn apart, and no heading stands without what it heads."""

import pytest

from sfumato.datasets import patients
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.tables.protect import run_plan
from sfumato.tables.plan.table_plan import read_table_plan

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
  return torn.filter((word) => !/^[0-9a-f]{16,}$/.test(word));
}"""
# Headings, and sentences before tables and pictures, after which a page may end.
# What stands in a line with others keeps nothing: its break is its block's.
LOOSE = """() => [...document.querySelectorAll('h2, h3, p, .legend, .verdict strong')].filter((one) => {
  const next = one.nextElementSibling, style = getComputedStyle(one);
  const heads = one.matches('h2, h3, strong') || (next && next.matches('.wide, .bars, .legend, .columns, figure, ul'));
  return heads && next && (style.breakAfter !== 'avoid' || style.display === 'inline');
}).map((one) => one.innerText)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release whose reports speak German."""
    place = tmp_path_factory.mktemp("printed")
    dataset = patients()
    dataset.write(place / "patients.csv")
    plan = dataset.plan(str(place / "patients.csv"), 4) | {"language": "de", "method": {"name": "mondrian"}}
    plan |= {"release": {"purpose": "Versorgungsforschung", "recipient": "Krankenhausgesellschaft"}}
    release = anonymize(None, plan)
    yield release.save(place / "out")
    release.close()


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


@pytest.mark.parametrize("width", [PAPER, 390])
@pytest.mark.parametrize("name", ["report", "report-external"])
def test_a_report_on_a_table_keeps_words_and_headings_together(open_page, table_folder, name, width) -> None:
    page = open_page((table_folder / f"{name}.html").as_uri(), width=width)
    page.emulate_media(media="print" if width == PAPER else "screen")
    assert page.locator("td").count() > 10
    assert page.evaluate(TORN) == []
    assert width != PAPER or page.evaluate(LOOSE) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width + 1


@pytest.mark.parametrize("name", ["report", "report-external"])
def test_a_printed_report_keeps_words_and_headings_together(open_page, folder, name) -> None:
    page = open_page((folder / f"{name}.html").as_uri(), width=PAPER)
    page.emulate_media(media="print")
    assert page.locator("td").count() > 20
    assert page.evaluate(TORN) == []
    assert page.evaluate(LOOSE) == []
    assert page.get_by_text("diese Gruppe von Werten").count() == 0
    assert page.locator("pre").count() == (name == "report")
    assert all(plan.is_visible() for plan in page.locator("pre").all()), "the plan is printed"


@pytest.mark.parametrize("name", ["report", "report-external"])
def test_no_word_of_a_table_is_torn_on_a_phone(open_page, folder, name) -> None:
    page = open_page((folder / f"{name}.html").as_uri(), width=390)
    torn = page.evaluate(TORN)
    assert torn == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 391
