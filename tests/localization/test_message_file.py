"""Tables of texts are read line by line, and say what a YAML reader says."""

from pathlib import Path

import pytest
import yaml

from sfumato.localization import messages
from sfumato.localization.messages import read_table

FOLDER = Path(messages.__file__).parent


@pytest.mark.parametrize("language", messages.languages())
def test_a_table_is_what_a_yaml_reader_finds(language):
    path = FOLDER / f"{language}.yaml"
    assert [*read_table(path).items()] == [*yaml.safe_load(path.read_text(encoding="utf-8")).items()]


@pytest.mark.parametrize(
    "text",
    [
        "a: it's\nb: 'it''s'\nc: \"x\\u00e4\"\n# no\n\nd: A # remark\ne: x#y\nf: 3:4\n",
        "a: 5\nb: yes\nc: .\nd: 2024-01-01\ne: null\nf: Ja \n",
        "a: >\n  folded\n  text\nb: c\n",
        "a: one\n  two\nb: c\n",
        "a: &x one\nb: *x\n".replace("*x", "two"),
        "{a: one, b: two}\n",
        "a: 'x' # remark\n",
    ],
)
def test_other_ways_to_write_a_table_are_read_too(text, tmp_path):
    path = tmp_path / "xx.yaml"
    path.write_text(text, encoding="utf-8")
    assert read_table(path) == yaml.safe_load(text)
