"""The examples of the documentation run as they stand."""

import re
from pathlib import Path

import pytest

from sfumato.attributes.knowledge_graph.configurations import configuration_of
from sfumato.attributes.knowledge_graph.parsing import parse
from sfumato.attributes.operations import operation

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("name", ["service.md", "attributes.md"])
def test_python(name, monkeypatch):
    operation.load_all()
    monkeypatch.setattr(operation, "_REGISTRY", dict(operation._REGISTRY))
    found = blocks(name, "python")
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, name, "exec"), names)


def test_turtle():
    (block,) = blocks("service.md", "turtle")
    rules = configuration_of(parse(block, "text/turtle")).rules
    assert [rule.attribute for rule in rules] == ["name", "pay", "home"]
    assert rules[2].data_type.levels == ("street", "town")


def test_curl(client):
    import json

    (body,) = re.findall(r"-d '(.*?)'", blocks("service.md", "sh")[1], re.S)
    response = client.put("/api/anonymise", json=json.loads(body))
    assert response.status_code == 202, response.text
    answer = response.json()
    assert [record["pay"] for record in answer["anonymisedData"]] == ["<= 26000.0"] * 2 + [">= 26000.0"] * 2


def test_entry_points_are_loaded(tmp_path, monkeypatch):
    """A package beside this one that names its module is found by a fresh interpreter."""
    import subprocess
    import sys

    (tmp_path / "first_letter.py").write_text(blocks("attributes.md", "python")[0])
    information = tmp_path / "first_letter-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: first-letter\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[sfumato.operations]\nfirst = first_letter\n")
    code = "from sfumato.attributes.operations.operation import known_operations; print(known_operations())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert "first-letter" in done.stdout
