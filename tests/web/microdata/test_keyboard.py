"""A release that is made with the keyboard alone."""

MOST_KEYS = 60


def tab_to(page, role, name):
    """Go on with the tab key until something has the focus."""
    wanted = page.get_by_role(role, name=name, exact=True)
    for _ in range(MOST_KEYS):
        if wanted.count() and wanted.first.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{name} is not reached")


def at_head(page, name):
    """Wait until the head of a step has the focus."""
    page.wait_for_function(
        "name => document.activeElement.matches('h2') && document.activeElement.innerText === name", arg=name
    )


def test_a_release_is_made_with_the_keyboard_alone(base, open_page) -> None:
    """Each step that was entered lost the focus: a screen reader said nothing of it."""
    page = open_page(f"{base}/app")
    tab_to(page, "button", "patients")
    page.keyboard.press("Enter")
    page.get_by_text("300 rows,").wait_for()
    at_head(page, "Data")
    for name in ("Columns", "Goal", "Result"):
        tab_to(page, "button", "Next")
        page.keyboard.press("Enter")
        at_head(page, name)
    tab_to(page, "button", "Anonymize")
    page.keyboard.press("Enter")
    page.get_by_text("Run 1", exact=True).wait_for()
    at_head(page, "Result")
    tab_to(page, "button", "Next")
    page.keyboard.press("Enter")
    at_head(page, "Release")
    tab_to(page, "button", "Data")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename == "data.csv"
    page.go_back()
    page.locator(".sf-step[aria-current=step]", has_text="Result").wait_for(state="attached")
    at_head(page, "Result")
