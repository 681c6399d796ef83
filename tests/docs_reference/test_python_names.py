"""Docstrings as Markdown: sections become lists, examples code, members lines."""

from types import SimpleNamespace

from sfumato.docs_reference.python_names import page, prose


class Ladder:
    """What a column climbs.

    Attributes:
        height: Its levels, and
            what they are for.
        size: Its values.
    """

    def climb(self, steps: int = 1) -> int:
        """Go up."""
        return steps

    @property
    def top(self) -> str:
        """The last label."""
        return "*"

    @property
    def silent(self) -> str:
        return ""


def twice(number: int, *, times: int = 2) -> int:
    """Many times a number.

    Args:
        number: Any.
        times: How often.

    Raises:
        ValueError: Never.

    >>> twice(2)
    4
    """
    return number * times


def test_sections_are_lists_and_examples_code():
    text = prose(twice)
    assert "**Takes**\n\n- `number`: Any.\n- `times`: How often." in text
    assert "**Raises**\n\n- `ValueError`: Never." in text
    assert "```pycon\n>>> twice(2)\n4\n```" in text


def test_what_goes_on_over_a_line_stays_with_its_entry():
    assert "- `height`: Its levels, and\n  what they are for.\n- `size`: Its values." in prose(Ladder)


def test_a_page_shows_signatures_and_the_members_that_say_what_they_are():
    package = SimpleNamespace(__name__="things", twice=twice, Ladder=Ladder)
    text = page(package, {"Both": ("twice", "Ladder")})
    assert "## Both\n\n### sf.twice\n\n```text\nsf.twice(number, times=2)\n```" in text
    assert "- `.climb(steps=1)`: Go up.\n- `.top`: The last label." in text
    assert "silent" not in text
