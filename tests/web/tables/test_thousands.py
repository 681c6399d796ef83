"""Counts with marks between thousands, as spreadsheets copy them, on the page."""

from walking import button, choose

COUNTS = "Landkreis\tFälle\nJena\t1.204\nGera\t3\nUlm\t4\nGesamt\t1.211\n"


def test_points_between_thousands_are_proposed_on_a_german_page(base, open_page) -> None:
    page = open_page(f"{base}/app/tables", locale="de-DE")
    page.locator("textarea").first.fill(COUNTS)
    page.get_by_text("„1.204“ wird als 1204 gelesen").wait_for()
    button(page, "Schützen").click()
    page.get_by_text("1211", exact=True).first.wait_for()
    choose(page, "Dezimalzeichen", "Punkt 1.5")
    page.get_by_text("„1.204“ wird als Dezimalzahl gelesen").wait_for()


def test_an_english_page_asks_and_says_which_reading_is_meant(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(COUNTS)
    page.get_by_text('Is "1.204" 1204 or a decimal number?').wait_for()
    choose(page, "Decimal mark", "comma 1,5")
    page.get_by_text('"1.204" is read as 1204').wait_for()
    assert not page.get_by_text("or a fraction?").count()


def test_commas_between_thousands_are_proposed_on_an_english_page(base, open_page) -> None:
    page = open_page(f"{base}/app/tables")
    page.locator("textarea").first.fill(COUNTS.replace(".", ","))
    page.get_by_text('"1,204" is read as 1204').wait_for()
    button(page, "Protect").click()
    page.get_by_text("1211", exact=True).first.wait_for()
