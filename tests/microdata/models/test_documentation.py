"""The documentation of the models: its plan is read, and no model is left out."""

import re
from pathlib import Path

import pytest
import yaml

from sfumato.docs_reference.pages import written
from sfumato.docs_reference.plan_keys import keys_table
from sfumato.microdata.models.registry import MODEL, SHAPES
from sfumato.schema.composite import ListSchema, read

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_plan_is_read():
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block
    models = read(ListSchema(MODEL), yaml.safe_load(block[1])["privacy"])
    assert [model.name for model in models][:2] == ["k-anonymity", "l-diversity"]


@pytest.mark.parametrize("name", SHAPES)
def test_every_model_has_a_line_and_a_page_with_its_keys(name):
    assert f"](models/{name}.md) |" in written("models")
    keys = keys_table(SHAPES[name])
    assert all(f"| `{key}` |" in keys for key in SHAPES[name].keys)
    assert keys in written(f"models/{name}")
