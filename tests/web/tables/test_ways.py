"""Numbers changed instead of masked, and all ways to protect a table side by side, on the page."""

import re

from walking import button, choose


def test_a_table_is_rounded_and_all_ways_are_compared(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    choose(page, "Method", "rounding")
    page.get_by_label("Base", exact=True).fill("5")
    page.get_by_text("Require that the rules are satisfied").click()
    button(page, "Protect").click()
    page.get_by_text("cells changed by controlled rounding to base 5").wait_for()
    page.get_by_text("No rule classifies a cell as sensitive, so nothing is guaranteed").wait_for()
    numbers = [int(text) for text in page.locator(".sf-crosstab td").all_inner_texts()]
    assert len(numbers) == 12 and all(number % 5 == 0 for number in numbers)
    assert page.locator(".sf-crosstab td.masked").first.get_attribute("title").startswith("in truth ")
    button(page, "Compare all methods").click()
    page.get_by_text(re.compile(r"^\d of 9 ways keep what the rules ask for\.")).wait_for()
    assert page.locator(".sf-ways tbody tr").count() == 9
    with page.expect_download() as waiting:
        button(page, "Internal report").click()
    assert "Methods to protect a table" in waiting.value.path().read_text(encoding="utf-8")
