"""Reference pages: docstrings become Markdown, schemas become words."""

from types import SimpleNamespace

import pytest

from sfumato.docs_reference.pages import prose, python_page
from sfumato.docs_reference.plan_keys import in_words


class Hierarchy:
    """The levels of a column.

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
    assert "- `height`: Its levels, and\n  what they are for.\n- `size`: Its values." in prose(Hierarchy)


def test_a_page_shows_signatures_and_the_members_that_say_what_they_are():
    package = SimpleNamespace(__name__="things", twice=twice, Hierarchy=Hierarchy)
    text = python_page(package, {"Both": ("twice", "Hierarchy")})
    assert "## Both\n\n### sf.twice\n\n```text\nsf.twice(number, times=2)\n```" in text
    assert "- `.climb(steps=1)`: Go up.\n- `.top`: The last label." in text
    assert "silent" not in text


CASES = {
    "text": ({"type": "string"}, "text"),
    "choices": ({"enum": ["csv", "parquet"]}, "`csv`, `parquet`"),
    "one value": ({"type": "integer", "minimum": 1, "maximum": 1}, "`1`"),
    "bounds": ({"type": "number", "minimum": 0, "maximum": 1}, "number, at least 0, at most 1"),
    "a bound of the machine": ({"type": "integer", "minimum": 0, "maximum": 2**63}, "whole number, at least 0"),
    "a list": ({"type": "array", "items": {"type": "string"}}, "list of text"),
    "several kinds": ({"type": ["string", "number"]}, "text or number"),
    "few keys": ({"type": "object", "properties": {"share": {}}}, "`{share}`"),
    "many keys": ({"type": "object", "properties": dict.fromkeys("abcde")}, "mapping, see below"),
    "names of the user": ({"type": "object", "additionalProperties": {"type": "number"}}, "mapping to number"),
    "alternatives": ({"anyOf": [{"type": "number"}, {"const": "never"}]}, "number or `never`"),
    "by a tag": (
        {"oneOf": [{"properties": {"type": {"const": "any"}}}, {"properties": {"type": {"const": "file"}}}]},
        "mapping with `type`: `any`, `file`",
    ),
    "by name": ({"$ref": "#/components/schemas/Job"}, "[Job](#job)"),
    "nothing said": ({}, "anything"),
}


@pytest.mark.parametrize(("schema", "words"), CASES.values(), ids=CASES)
def test_a_schema_in_words(schema, words):
    assert in_words(schema) == words
