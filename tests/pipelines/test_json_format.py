"""JSON that people read: written as ever, but for what is long."""

import json

import pytest

from sfumato.pipelines.release_folder import MANY_ENTRIES, readable

VALUES = [
    {"a": {"ü": [1, {"b": None}], 'x\n"': {}}, "c": []},
    {"classes": [{"published": ["a", None], "suppressed": False}]},
    [1, [2, {"k": True}]],
    {1: "a", None: 2},
    "text",
]


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_what_is_short_is_written_line_by_line(value, ensure_ascii):
    assert readable(value, ensure_ascii) == json.dumps(value, indent=1, ensure_ascii=ensure_ascii)


def test_what_is_long_is_one_line_and_says_the_same():
    many = {"combinations": [[place, "a"] for place in range(MANY_ENTRIES)], "columns": {"age": {"values": {"1": "*"}}}}
    text = readable(many)
    assert json.loads(text) == many
    assert text.count("\n") < 20
