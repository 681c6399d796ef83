"""The routes for clients of ARXaaS: the answer that its client is tested with, field by field."""

from typing import Any

import pytest

ZIP = [[str(zip_), *(f"{str(zip_)[:shown]:*<5}" for shown in range(4, -1, -1))] for zip_ in range(81667, 81678)]
ROWS = [[str(age), "male" if age % 2 else "female", str(81667 + age - 34)] for age in range(34, 45)]
DATA = [["age", "gender", "zipcode"], *ROWS]
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
    body = {"data": DATA, "attributes": ATTRIBUTES, "privacyModels": MODELS, "suppressionLimit": None}
    return client.post("/api/anonymize", json=body | changes)


def test_the_answer_that_the_client_is_tested_with(client) -> None:
    answer = anonymized(client)
    assert answer.status_code == 200, answer.text
    result = answer.json()["anonymizeResult"]
    assert result["data"] == [DATA[0], *(["*", row[1], "816**"] for row in ROWS)]
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
    answer = anonymized(client, data=[DATA[0], *outlier], attributes=attributes, suppressionLimit=0.1).json()
    first, second = answer["anonymizeResult"]["data"][1:3]
    assert first[2] == "*"
    assert second[2] == "816**"


WRONG: dict[str, dict[str, Any]] = {
    "too strict": {"privacyModels": [{"privacyModel": "KANONYMITY", "params": {"k": 50}}]},
    "no such model": {"privacyModels": [{"privacyModel": "LDIVERSITY_GRASSBERGERENTROPY", "params": {"l": 2}}]},
    "no column": {"privacyModels": [{"privacyModel": "LDIVERSITY_DISTINCT", "params": {"l": 2}}]},
    "no number": {"privacyModels": [{"privacyModel": "KANONYMITY", "params": {"k": "many"}}]},
    "ragged": {"data": [DATA[0], ["1"]]},
    "no rows": {"data": [DATA[0]]},
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
