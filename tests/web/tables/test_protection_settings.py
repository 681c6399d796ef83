"""Rules and methods of a table's plan, on the page."""

from walking import answer_late, choose


def test_a_switch_that_is_clicked_twice_over_a_slow_line_is_as_before(base, open_page) -> None:
    """The second click was taken for the first, since the page waited for the server to say what the first did."""
    page = open_page(f"{base}/app/tables")
    choose(page, "Method", "rounding: multiples of a base")
    switch = page.get_by_role("switch", name="Require that the rules are satisfied")
    switch.wait_for()
    answer_late(page, 1)
    for checked in ("false", "true"):
        switch.click()
        assert switch.get_attribute("aria-checked") == checked
    page.wait_for_timeout(3500)
    assert switch.get_attribute("aria-checked") == "true"
    page.reload()
    page.get_by_role("switch", name="Require that the rules are satisfied", checked=True).wait_for()
