"""Plan files: what is read of them does not depend on whether YAML's compiled loader is there."""

import pytest
import yaml

from sfumato.shapes.files import parsed

TEXTS = ["zip: 01067", "no: yes", "a: 1.10", "a: [1, ~, true]", "a: x\ty", "a: 1\na: 2", "a: [1", "a:\t1", "{a: b"]


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
