"""The attribute endpoints over real HTTP: both request forms, names, labels, bucket rules, graphs."""

from datetime import date

import pytest

from sfumato.values import replace

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
