"""Every screen, in both languages, light and dark, wide and narrow: axe-core finds nothing critical or serious."""

import pytest

RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .filter((found) => ['critical', 'serious'].includes(found.impact))
  .map((found) => `${found.id}: ${found.nodes[0].html.slice(0, 200)}`)"""
SCREENS = [("en-US", "light", 1600), ("de-DE", "dark", 390)]


def enter(page, place):
    if page.viewport_size["width"] < 900:
        page.locator(".sf-topbar button").click()
    page.locator(".sf-step").nth(place).click()
    page.wait_for_timeout(600)


@pytest.mark.parametrize(("locale", "scheme", "width"), SCREENS)
def test_no_screen_has_a_serious_fault(base, open_page, axe, locale, scheme, width) -> None:
    page = open_page(f"{base}/app", locale=locale, color_scheme=scheme, width=width)
    faults = {}

    def look(name):
        page.evaluate(axe)
        faults[name] = page.evaluate(RUN)

    page.get_by_role("button", name="patients", exact=True).click()
    page.get_by_text("300 ").first.wait_for(state="attached")
    page.locator(".sf-table").wait_for()
    look("data")
    enter(page, 1)
    page.locator(".sf-columns").wait_for()
    look("columns")
    enter(page, 2)
    page.locator(".sf-panel .tile").first.wait_for()
    look("goal")
    enter(page, 3)
    page.locator(".sf-head .q-btn").first.click()
    page.locator(".verdict").first.wait_for()
    look("result")
    page.locator(".sf-halves .q-btn").first.click()
    page.locator("canvas").wait_for()
    look("other choices")
    enter(page, 4)
    page.locator(".sf-box-in").wait_for()
    look("release")
    for area in ("tables", "attributes", "help"):
        page.goto(f"{base}/app/{area}")
        page.locator(".sf-head h2").wait_for()
        look(area)
    assert {name: found for name, found in faults.items() if found} == {}
