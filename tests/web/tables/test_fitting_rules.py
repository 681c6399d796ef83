"""The page proposes rules that fit the table, and gives no tick where they call nothing unsafe."""

import pytest
from walking import button

from sfumato.web.tables.input_detection import ColumnFacts, facts_in, fitting_rules

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
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(FIRMS)
    page.get_by_text("p percent", exact=True).first.wait_for()
    page.get_by_text("too few respondents", exact=True).first.wait_for()
    page.get_by_text("Not used: note.").wait_for()
    assert not page.get_by_text("Remove: small counts").count()
    button(page, "Protect").click()
    page.get_by_text("2 of 4 cells suppressed: 1 primary, 1 secondary.").wait_for()


def test_where_nothing_is_unsafe_the_page_promises_nothing(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(LARGE)
    button(page, "Protect").click()
    page.get_by_text("No rule of the plan classifies a cell as sensitive").wait_for()
    assert not page.get_by_text("The audit passed: no attacker it lists can compute a sensitive cell.").count()
    assert not page.get_by_text("this is proved").count()
