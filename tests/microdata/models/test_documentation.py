"""The documentation of the models: its plan is read, and no model is left out."""

import re
from pathlib import Path

import pytest
import yaml

from sfumato.microdata.models.registry import MODEL, SHAPES
from sfumato.schema.composite import ListSchema, read

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_plan_is_read():
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block
    models = read(ListSchema(MODEL), yaml.safe_load(block[1])["privacy"])
    assert [model.name for model in models][:2] == ["k-anonymity", "l-diversity"]


@pytest.mark.parametrize("name", SHAPES)
def test_every_model_and_key_is_there(name):
    line = next(line for line in TEXT.splitlines() if line.startswith(f"| `{name}` |"))
    for key in SHAPES[name].keys:
        assert f"`{key}" in line
