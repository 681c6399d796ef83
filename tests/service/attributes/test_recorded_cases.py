"""The recorded inputs and answers of a running service, where they lie beside the project."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "service"
CASES = sorted(path.name.removesuffix(".input.json") for path in FOLDER.glob("cases/*.input.json"))
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not CASES, reason="the recorded cases are not here")]


def read(name: str) -> dict:
    return json.loads((FOLDER / "cases" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES or ["none"])
def test_answered_as_recorded(client, configs, case):
    address = configs.put("/AnonymisationDemo", (FOLDER / "configuration.jsonld").read_bytes())
    expected = read(f"{case}.output.json")
    answer = client.put("/api/anonymise", json=read(f"{case}.input.json") | {"configurationURL": address})
    assert answer.status_code == (202 if expected["valid"] else 400)
    body = answer.json()
    assert {key: body.get(key) for key in expected} == expected


def test_worked_example_with_its_own_ontology(start, worked_example):
    from sfumato.service.settings import Settings

    with start(Settings(ontologies=FOLDER)) as client:
        request = worked_example["request"] | {"ontology": "anonymization_ontology.json"}
        assert client.put("/api/anonymise", json=request).status_code == 202
        refused = request | {"configuration": {"Name": {"anonymisationType": "Generalization", "dataType": "Numeric"}}}
        assert client.put("/api/anonymise", json=refused | {"data": [{"Name": 1}]}).status_code == 400
