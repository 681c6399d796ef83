"""The endpoints that anonymize attributes, refusals, and those for clients of ARXaaS."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

HOMES = [("Long Row 1", "Aven", "North"), ("Long Row 2", "Aven", "North"), ("Mill Lane 1", "Belt", "North")]
HOMES += [("Quay 3", "Crail", "South"), ("Quay 4", "Crail", "South"), ("Quay 5", "Dorn", "South")]


def homes(count: int = 6) -> list[dict[str, object]]:
    return [{"home": dict(zip(("street", "town", "region"), home, strict=True))} for home in HOMES[:count]]


@pytest.mark.parametrize("path", ["/api/anonymise", "/api/anonymization"])
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_worked_example_is_answered_as_recorded(client, worked_example, path, method):
    answer = client.request(method, path, json=worked_example["request"])
    assert answer.status_code == 202
    body = answer.json()
    assert body["version"] == worked_example["response"]["version"]
    assert body["valid"] is True
    recorded = worked_example["response"]["anonymisedData"]
    assert len(body["anonymisedData"]) == len(recorded)
    for got, expected in zip(body["anonymisedData"], recorded, strict=True):
        assert got.keys() == expected.keys()
        assert {**got, "Geburtsdatum": ""} == {**expected, "Geburtsdatum": ""}
    born = [record["Geburtsdatum"] for record in body["anonymisedData"] if "Geburtsdatum" in record]
    assert all(date(1949, 11, 1) <= date.fromisoformat(text) <= date(2019, 5, 14) for text in born)
    assert born != [record["Geburtsdatum"] for record in worked_example["request"]["data"] if "Geburtsdatum" in record]


def test_masking_by_address(client, configs):
    data = [{"name": f"Name {number}"} for number in range(10)]
    body = {"configurationURL": configs.url("/Patient"), "data": data}
    assert client.put("/api/anonymise", json=body).json().keys() == {"version", "valid", "anonymisedData"}
    answer = client.put("/api/anonymise", json=body | {"kpis": True})
    assert answer.status_code == 202
    assert answer.json()["anonymisedData"] == [{"name": "*****"}] * 10
    assert answer.json()["kpis"]["kAnonymity"] == 10
    assert "warnings" not in answer.json()


def test_object_is_published_at_the_first_level_where_nobody_stands_out(client, configs):
    request = {"configurationURL": configs.url("/Patient"), "data": homes()}
    answer = client.put("/api/anonymise", json=request).json()
    assert [record["home"] for record in answer["anonymisedData"]] == ["North"] * 3 + ["South"] * 3
    masked = client.put("/api/anonymise", json=request | {"data": homes(5)}).json()
    assert [record["home"] for record in masked["anonymisedData"]] == ["*****"] * 5


def test_text_where_a_number_is_needed_names_attribute_and_value(client, configs):
    data = [{"income": 100}, {"income": "plenty", "unknown": 1}, {"income": 300}]
    answer = client.put("/api/anonymise", json={"configurationURL": configs.url("/Patient"), "data": data})
    assert answer.status_code == 400
    assert answer.json() == {
        "version": "1.0.0",
        "valid": False,
        "errorMessage": "Error when applying anonymization to attribute income: "
        "Numeric Generalization was requested but the input plenty is not numeric",
    }
    problem = {"Accept": "application/problem+json"}
    body = {"configurationURL": configs.url("/Patient"), "data": data}
    details = client.put("/api/anonymise", json=body, headers=problem).json()
    assert details["detail"].endswith(
        "attribute income: Numeric Generalization was requested but the input of record 2 is not numeric"
    )


def test_object_expected_and_text_given(client, configs):
    data = [{"home": "Long Row 1, Aven"}]
    answer = client.put("/api/anonymise", json={"configurationURL": configs.url("/Patient"), "data": data})
    assert answer.status_code == 400
    assert answer.json()["errorMessage"].startswith("Error when applying anonymization to attribute home: ")


def test_ranges_by_address_and_labels_inline(client, configs):
    data = [{"income": 1000 * number} for number in range(1, 21)]
    body = {"configurationURL": configs.url("/Patient"), "data": data, "kpis": True}
    ranged = client.put("/api/anonymise", json=body).json()
    assert ranged["kpis"]["incomeNumberAttributes"] == 3  # the rule for 20 records and one attribute
    assert ranged["anonymisedData"][0] == {"income_range": {"min": 1000.0, "max": 7500.0}}
    assert ranged["anonymisedData"][10] == {"income_range": {"min": 7500.0, "max": 14500.0}}
    assert ranged["anonymisedData"][19] == {"income_range": {"min": 14500.0, "max": 20000.0}}
    entry = {"income": {"anonymisationType": "GENERALIZATION", "dataType": "Double"}}
    labels = client.put("/api/anonymise", json={"configuration": entry, "data": data, "kpis": True}).json()
    assert labels["kpis"]["incomeNumberAttributes"] == 4  # floor(sqrt(20))
    shown = list(dict.fromkeys(record["income"] for record in labels["anonymisedData"]))
    assert shown == ["<= 5500.0", "5500.0 - 10500.0", "10500.0 - 15500.0", ">= 15500.0"]


@pytest.mark.parametrize(("buckets", "expected"), [("unique99", 3), ("sqrt", 4), (5, 5)])
def test_bucket_rule_can_be_chosen(client, configs, buckets, expected):
    data = [{"income": number} for number in range(20)]
    request = {"configurationURL": configs.url("/Patient"), "data": data, "buckets": buckets, "kpis": True}
    assert client.put("/api/anonymise", json=request).json()["kpis"]["incomeNumberAttributes"] == expected


def test_turtle_by_content_type_and_date_ranges(client, configs):
    data = [{"visit": f"20{number:02d}-02-28T10:00:00+02:00", "name": None} for number in range(10, 26)]
    request = {"configurationURL": configs.url("/patient.ttl"), "data": data}
    body = client.put("/api/anonymise", json=request).json()
    assert body["anonymisedData"][0] == {
        "visit_date_range": {"min": "2010-02-28T08:00:00Z", "max": "2017-08-29T20:00:00Z"},
        "name": None,
    }


def test_turtle_by_the_end_of_its_address_where_the_server_says_nothing(client, configs):
    from http.server import SimpleHTTPRequestHandler

    configs.pages["/unsaid.ttl"] = replace(configs.pages["/patient.ttl"], media_type="application/octet-stream")
    assert SimpleHTTPRequestHandler.extensions_map.get(".ttl") is None  # so do many servers
    body = {"configurationURL": configs.url("/unsaid.ttl"), "data": [{"name": "A"}]}
    assert client.put("/api/anonymise", json=body).json()["anonymisedData"] == [{"name": "*****"}]


def test_unknown_attributes_pass_by_address_and_are_refused_inline(client, configs):
    data = [{"name": "A", "shoe": 43}, {"name": "B"}]
    passed = client.put("/api/anonymise", json={"configurationURL": configs.url("/Patient"), "data": data})
    assert passed.json()["anonymisedData"] == [{"name": "*****", "shoe": 43}, {"name": "*****"}]
    assert passed.json()["warnings"] == ["Passed through unchanged: shoe."]
    request = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": data}
    refused = client.put("/api/anonymise", json=request)
    assert refused.status_code == 400
    assert '"shoe"' in refused.json()["errorMessage"]
    allowed = client.put("/api/anonymise", json=request | {"passThrough": True})
    assert allowed.json()["anonymisedData"] == passed.json()["anonymisedData"]
    closed = {"configurationURL": configs.url("/Patient"), "data": data, "passThrough": False}
    assert client.put("/api/anonymise", json=closed).status_code == 400


def test_seed_makes_noise_repeatable_and_it_stays_in_range(client, configs):
    data = [{"born": f"{1890 + number}-02-28"} for number in range(40)]
    request = {"configurationURL": configs.url("/Patient"), "data": data, "seed": 7}
    first, second = (client.put("/api/anonymise", json=request).json()["anonymisedData"] for _ in range(2))
    assert first == second != data
    assert all("1890-02-28" <= record["born"] <= "1929-02-28" for record in first)


def test_flat_records(client, configs):
    data = [{"income": 1000, "born": "1980-01-01", "note": "x"}, {"income": 3000, "born": "1990-01-01"}]
    request = {"configurationUrl": configs.url("/Patient"), "prefix": "https://clinic.example/Patient/", "data": data}
    for path in ("/api/anonymise/flatjson", "/api/anonymization/flatjson"):
        answer = client.put(path, json=request)
        assert answer.status_code == 202
        first, second = answer.json()["data"]
        assert first["income_generalized"] == {"min": 1000.0, "max": 3000.0} == second["income_generalized"]
        assert first.keys() == {"income_generalized", "born_randomized", "note"}
        assert first["note"] == "x"
        kpis = {"kAnonymity": 2, "incomeNumberAttributes": 1, "bornNumberAttributes": 1}
        assert answer.json()["kpis"] == kpis
    wrong = client.put("/api/anonymise/flatjson", json=request | {"prefix": "https://other.example/"})
    assert wrong.status_code == 400


def test_graph_originals_are_removed(client, configs):
    prefix = "https://clinic.example/Patient/"
    nodes = [
        {
            "@id": f"p:{number}",
            "@type": "p:Patient",
            "p:name": f"Secret {number}",
            "p:income": 1000 + number,
            "p:born": {"@value": f"19{50 + number}-05-05", "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "p:home": {"p:street": f"Hidden {number}", "p:town": "Aven"},
        }
        for number in range(6)
    ]
    request = {"configurationUrl": configs.url("/Patient"), "data": {"@context": {"p": prefix}, "@graph": nodes}}
    answer = client.put("/api/anonymise/jsonld", json=request)
    assert answer.status_code == 202
    assert answer.headers["content-type"] == "application/ld+json"
    graph = {node["@id"]: node for node in answer.json()["@graph"]}
    assert list(graph)[:6] == [f"p:{number}" for number in range(6)]
    first = graph["p:0"]
    assert first["p:name"] == "*****"
    assert first["p:home_generalized"] == "Aven"
    assert {"p:born_randomized", "p:income_generalized"} <= first.keys()
    assert not {"p:born", "p:income", "p:home"} & first.keys()
    ranged = graph[first["p:income_generalized"]["@id"]]
    assert ranged["https://w3id.org/soya/ns#min"] == 1000
    assert "Secret" not in answer.text
    assert "Hidden" not in answer.text


def test_graph_with_a_node_of_an_unknown_class_is_refused(client, configs):
    document = {"@id": "x:1", "@type": "x:Stranger", "x:name": "raw"}
    request = {"configurationUrl": configs.url("/Patient"), "data": document}
    answer = client.put("/api/anonymise/jsonld", json=request)
    assert answer.status_code == 400
    assert "raw" not in answer.text


def test_one_record_is_never_released_raw(client, configs):
    data = [{"name": "A", "income": 51234, "born": "1980-02-29"}]
    answer = client.put(
        "/api/anonymise", json={"configurationURL": configs.url("/Patient"), "data": data, "kpis": True}
    )
    assert answer.json()["anonymisedData"] == [{"name": "*****", "income_range": "*****", "born": "*****"}]
    assert answer.json()["kpis"]["kAnonymity"] == 1
    assert answer.json()["warnings"][0].startswith("kAnonymity is 1")


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


ZIP = [[str(zip_), *(f"{str(zip_)[:shown]:*<5}" for shown in range(4, -1, -1))] for zip_ in range(81667, 81678)]
ROWS = [[str(age), "male" if age % 2 else "female", str(81667 + age - 34)] for age in range(34, 45)]
DATA_OF_ROUTES = [["age", "gender", "zipcode"], *ROWS]
ATTRIBUTES = [
    {"field": "age", "attributeTypeModel": "IDENTIFYING", "hierarchy": None},
    {"field": "gender", "attributeTypeModel": "SENSITIVE", "hierarchy": None},
    {"field": "zipcode", "attributeTypeModel": "QUASIIDENTIFYING", "hierarchy": ZIP},
]
MODELS = [
    {"privacyModel": "KANONYMITY", "params": {"k": 5}},
    {"privacyModel": "LDIVERSITY_DISTINCT", "params": {"l": 2, "column_name": "gender"}},
]


def anonymized(client: Any, **changes: Any) -> Any:
    body = {"data": DATA_OF_ROUTES, "attributes": ATTRIBUTES, "privacyModels": MODELS, "suppressionLimit": None}
    return client.post("/api/anonymize", json=body | changes)


def test_the_answer_that_the_client_is_tested_with(client) -> None:
    answer = anonymized(client)
    assert answer.status_code == 200, answer.text
    result = answer.json()["anonymizeResult"]
    assert result["data"] == [DATA_OF_ROUTES[0], *(["*", row[1], "816**"] for row in ROWS)]
    assert result["anonymizationStatus"] == "ANONYMOUS"
    assert result["attributes"] == ATTRIBUTES
    generalization = {"name": "zipcode", "type": "QUASI_IDENTIFYING_ATTRIBUTE", "generalizationLevel": 2}
    assert result["metrics"]["attributeGeneralization"] == [generalization]
    k, diversity = result["metrics"]["privacyModels"]
    assert (k["k"], k["minimalClassSize"], k["requirements"], k["riskThresholdProsecutor"]) == (5, 5, 1, 0.2)
    assert (diversity["attribute"], diversity["l"], diversity["requirements"]) == ("gender", 2, 4)
    risk = answer.json()["riskProfile"]["reIdentificationRisk"]
    assert {round(value, 9) for value in risk["measures"].values()} == {round(1 / 11, 9), 1.0, 0.0}
    assert risk["measures"]["sample_uniques"] == risk["measures"]["population_uniques"] == 0
    assert all(rate == pytest.approx(1 / 11) for rate in risk["attackerSuccessRate"]["successRates"].values())
    assert (risk["quasiIdentifiers"], risk["populationModel"]) == (["zipcode"], "DANKAR")


def test_the_distribution_of_risk(client) -> None:
    """Classes of six and five rows, as the service's own test states them."""
    data = [["zip"], *([["1"]] * 6), *([["2"]] * 5)]
    attributes = [{"field": "zip", "attributeTypeModel": "QUASIIDENTIFYING"}]
    profile = client.post("/api/analyze", json={"data": data, "attributes": attributes}).json()
    listed = profile["distributionOfRisk"]["riskIntervalList"]
    shares = {one["interval"]: one["recordsWithRiskWithinInterval"] for one in listed}
    assert {name: share for name, share in shares.items() if share} == {
        "[16.7,20)": pytest.approx(5 / 11),
        "[14.3,16.7)": pytest.approx(6 / 11),
    }
    assert [one["recordsWithMaximalRiskWithinInterval"] for one in listed[:6]] == [1, 1, 1, 1, 1, pytest.approx(6 / 11)]
    assert (listed[0]["interval"], len(listed)) == ("[50,100]", 24)
    measures = profile["reIdentificationRisk"]["measures"]
    assert measures["records_affected_by_lowest_risk"] == pytest.approx(6 / 11)
    assert measures["average_prosecutor_risk"] == pytest.approx(2 / 11)
    (alone,) = profile["attributeRisk"]["quasiIdentifierRiskList"]
    assert alone == {
        "identifier": ["zip"],
        "distinction": pytest.approx(2 / 11),
        "separation": pytest.approx(30 / 55),
    }


def test_a_hierarchy_is_built(client) -> None:
    builder = {"type": "redactionBased", "paddingCharacter": " ", "redactionCharacter": "*"}
    builder |= {"paddingOrder": "RIGHT_TO_LEFT", "redactionOrder": "RIGHT_TO_LEFT"}
    answer = client.post("/api/hierarchy", json={"column": [81667, "81668"], "builder": builder})
    assert answer.json()["hierarchy"][0] == ["81667", "8166*", "816**", "81***", "8****", "*****"]


def test_suppressed_rows_are_stars_and_stay_in_their_place(client) -> None:
    outlier = [["30", "male", "10000"], *ROWS]
    hierarchy = [*ZIP, ["10000", "1000*", "100**", "10***", "1****", "*****"]]
    attributes = [*ATTRIBUTES[:2], ATTRIBUTES[2] | {"hierarchy": hierarchy}]
    answer = anonymized(client, data=[DATA_OF_ROUTES[0], *outlier], attributes=attributes, suppressionLimit=0.1).json()
    first, second = answer["anonymizeResult"]["data"][1:3]
    assert first[2] == "*"
    assert second[2] == "816**"


WRONG: dict[str, dict[str, Any]] = {
    "too strict": {"privacyModels": [{"privacyModel": "KANONYMITY", "params": {"k": 50}}]},
    "no such model": {"privacyModels": [{"privacyModel": "LDIVERSITY_GRASSBERGERENTROPY", "params": {"l": 2}}]},
    "no column": {"privacyModels": [{"privacyModel": "LDIVERSITY_DISTINCT", "params": {"l": 2}}]},
    "no number": {"privacyModels": [{"privacyModel": "KANONYMITY", "params": {"k": "many"}}]},
    "ragged": {"data": [DATA_OF_ROUTES[0], ["1"]]},
    "no rows": {"data": [DATA_OF_ROUTES[0]]},
    "a column too few": {"attributes": ATTRIBUTES[1:]},
    "an unknown value": {"attributes": [*ATTRIBUTES[:2], ATTRIBUTES[2] | {"hierarchy": ZIP[1:]}]},
    "a ragged hierarchy": {"attributes": [*ATTRIBUTES[:2], ATTRIBUTES[2] | {"hierarchy": [["1", "*"], ["2"]]}]},
    "no quasi-identifier": {"attributes": [*ATTRIBUTES[:2], {"field": "zipcode", "attributeTypeModel": "INSENSITIVE"}]},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_is_refused(client, changes: dict[str, Any]) -> None:
    answer = anonymized(client, **changes)
    assert answer.status_code in (400, 422), answer.text
    assert "81667" not in answer.text
