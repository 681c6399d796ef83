"""What the service refuses, with which status and text, in its own form and as problem details."""

import pytest

MASK = {"name": {"anonymisationType": "Masking", "dataType": "String"}}
DATA = [{"name": "Ada"}]
INLINE_FAULTS = {
    "no such operation": ({"anonymisationType": "Hashing", "dataType": "String"}, "not an operation"),
    "no such type": ({"anonymisationType": "Masking", "dataType": "Colour"}, "not a data type"),
    "operation not for type": ({"anonymisationType": "Generalization", "dataType": "Boolean"}, "Boolean"),
    "noise on text": ({"anonymisationType": "Randomization", "dataType": "String"}, "String"),
    "no type": ({"anonymisationType": "Masking"}, "dataType"),
    "no operation": ({"dataType": "String"}, "anonymisationType"),
}
BODIES = {
    "nothing": ({}, "data"),
    "no data": ({"configuration": MASK}, "data is missing"),
    "empty data": ({"configuration": MASK, "data": []}, "no data"),
    "no configuration": ({"data": DATA}, "configurationURL or configuration is missing"),
    "two configurations": ({"data": DATA, "configuration": MASK, "configurationURL": "http://a.example/"}, "one"),
    "not a URL": ({"data": DATA, "configurationURL": "somewhere"}, "not an http or https URL"),
    "unknown key": ({"data": DATA, "configuration": MASK, "speed": 1}, "speed"),
    "record is text": ({"data": ["Ada"], "configuration": MASK}, "data.0"),
    "no such ontology": ({"data": DATA, "configuration": MASK, "ontology": "none.json"}, "no such ontology"),
    "out of the folder": ({"data": DATA, "configuration": MASK, "ontology": "../../../etc/passwd"}, "no such ontology"),
    "no buckets": (
        {"data": DATA, "configuration": MASK, "buckets": 0},
        'buckets: Give "unique99", "sqrt" or a whole number',
    ),
    "looks like": (
        {"data": [{"name": "Ada", "Name": "Ada"}], "configuration": MASK, "passThrough": True},
        "look alike",
    ),
}
ONTOLOGY = "Beispiele/anonymization_ontology.json"


@pytest.mark.parametrize("name", INLINE_FAULTS)
def test_inline_configuration(client, name):
    entry, expected = INLINE_FAULTS[name]
    answer = client.put("/api/anonymise", json={"data": DATA, "configuration": {"name": entry}})
    assert answer.status_code == 400
    assert answer.json()["valid"] is False
    assert expected in answer.json()["errorMessage"]
    assert "name" in answer.json()["errorMessage"]


@pytest.mark.parametrize("name", BODIES)
def test_body(client, name):
    body, expected = BODIES[name]
    answer = client.post("/api/anonymise", json=body)
    assert answer.status_code == 400
    assert expected in answer.json()["errorMessage"]


def test_operation_that_the_ontology_does_not_allow(client):
    entry = {"anonymisationType": "Generalization", "dataType": "Numeric"}
    body = {"ontology": ONTOLOGY, "configuration": {"Name": entry}, "data": [{"Name": 1}]}
    answer = client.put("/api/anonymise", json=body)
    assert answer.status_code == 400
    assert "does not allow the operation Generalization" in answer.json()["errorMessage"]
    stranger = client.put("/api/anonymise", json=body | {"configuration": {"Hat": entry}, "data": [{"Hat": 1}]})
    assert "does not know this attribute" in stranger.json()["errorMessage"]


def test_configuration_that_is_none(client, configs):
    cases = {
        configs.put("/text", b"plain text", media_type="text/plain"): "not valid JSON-LD",
        configs.put("/empty", {}): "not valid JSON-LD",
        configs.put("/no-graph", {"a": 1}): "not valid JSON-LD",
        configs.put("/bad.ttl", b"<a> <b>", media_type="text/turtle"): "not valid Turtle",
        configs.put("/context", {"@context": "https://evil.example/c", "@id": "x:a", "x:b": 1}): "context",
        configs.put("/gone", b"", status=503): "status 503",
        configs.url("/absent"): "status 404",
        "http://127.0.0.1:1/": "cannot be reached",
    }
    for address, expected in cases.items():
        answer = client.put("/api/anonymise", json={"configurationURL": address, "data": DATA})
        assert answer.status_code == 400, address
        assert expected in answer.json()["errorMessage"], address


def test_problem_details_where_they_are_asked_for(client):
    answer = client.put("/api/anonymise", json={}, headers={"Accept": "application/problem+json"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["type"] == "urn:sfumato:problem:body.missing"
    assert (body["title"], body["status"]) == ("Bad Request", 400)
    assert body["requestId"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/api/anonymise", 405)])
def test_other_failures_have_the_same_form(client, method, path, status):
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["valid"] is False


def test_allowed_methods_are_told(client):
    assert client.get("/api/anonymise").headers["allow"] == "POST, PUT"


def test_other_media_type_is_refused(client):
    answer = client.put("/api/anonymise", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
