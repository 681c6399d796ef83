"""Visitors who come again: a test finds nothing of those before it."""

HELD = "[localStorage.length, sessionStorage.length, document.cookie]"


def test_who_comes_again_has_empty_hands(base, visitors) -> None:
    first = visitors.enters(locale="fr-FR")
    page = first.context.new_page()
    page.goto(f"{base}/health/live")
    page.evaluate("localStorage.a = sessionStorage.b = 'kept'; document.cookie = 'c=kept; path=/'")
    assert page.evaluate(HELD) == [1, 1, "c=kept"]
    first.context.set_offline(True)
    assert f"{base}/health/live" in visitors.leaves(first)
    again = visitors.enters(locale="fr-FR")
    assert again is first and again.pages() == [] and again.context.cookies() == []
    page = again.context.new_page()
    page.goto(f"{base}/health/live")
    assert page.evaluate(HELD) == [0, 0, ""]
    other = visitors.enters(locale="fr-FR")
    assert other is not again  # two at the same time are never the same
    for visitor in (again, other):
        visitors.leaves(visitor)
