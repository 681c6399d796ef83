"""Plan files: what is read of them does not depend on whether YAML's compiled loader is there."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from refusals import refused
from sfumato.errors import PlanError
from sfumato.schema.files import dumped, load, parsed
from sizes import size

TEXTS = ["zip: 01067", "no: yes", "a: 1.10", "a: [1, ~, true]", "a: x\ty", "a: 1\na: 2", "a: [1", "a:\t1", "{a: b"]
TEXTS += [
    "a: !!int x",
    'a: !!int ""',
    "a: !!bool x",
    "a: !!timestamp x",
    "!!map [a]",
    "a: !!set [a]",
    "a: " + "9" * 5000,
]
TEXTS += [opening * 100_000 for opening in ("[", '{"a":', "- ", "? ")]


def read(text):
    try:
        return repr(parsed(text))
    except yaml.YAMLError as error:
        return str(error)


@pytest.mark.parametrize("text", TEXTS)
def test_both_loaders_read_the_same_and_refuse_with_the_same_words(text, monkeypatch):
    read_here = read(text)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert read(text) == read_here


ASCII = st.characters(min_codepoint=32, max_codepoint=126)
LIKE_OTHERS = st.sampled_from(
    ["", "yes", "~", "1", "1.10", "2020-01-01", "- x", "a: b", "a #b", " a", "a ", "---", "Köln"]
)
WORDS = LIKE_OTHERS | st.text(ASCII, max_size=9) | st.lists(st.text(ASCII, max_size=9), max_size=20).map(" ".join)
SCALARS = WORDS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
PLAIN = st.recursive(SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(WORDS, part, max_size=4))


@settings(max_examples=size(60, 1_000))
@given(st.dictionaries(WORDS, PLAIN, max_size=4), st.sampled_from([100, 108, 120]))
def test_both_writers_write_the_same(value, width):
    assert dumped(value, width) == yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=width)


def test_a_plan_that_goes_too_deep_is_refused_with_its_line(tmp_path):
    """YAML's reader in C ended the whole program."""
    path = tmp_path / "plan.yaml"
    path.write_text("version: 1\ncolumns: " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(PlanError, check=refused("error.plan.yaml.line", line="2")):
        load(path)


def test_parts_within_one_another_are_read():
    assert parsed("[" * 100 + "]" * 100)
