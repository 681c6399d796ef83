"""The library's door: records and frames of every kind, every form of configuration, the same answers."""

import json
import unicodedata

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.sources import Sources
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.attributes import anonymize_attributes

INLINE = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "pay": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    "born": {"anonymizationType": "randomisation", "dataType": "Date"},
}
RECORDS = [
    {"name": "Zoë", "pay": 10.0, "born": "1990-01-01"},
    {"name": None, "pay": 20.0, "born": "1992-02-29"},
    {"name": "B", "pay": None, "born": "1995-05-05"},
    {"name": "C", "pay": 30.0, "born": "1890-01-01"},
    {"name": "D", "pay": 40.0, "born": None},
]
PAY = ["<= 25.0", "<= 25.0", None, ">= 25.0", ">= 25.0"]
TURTLE = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix soya: <https://w3id.org/soya/ns#> . @prefix : <https://p.example/> .
:name rdfs:domain :Person ; rdfs:range xsd:string ; soya:classification soya:masking .
:pay rdfs:domain :Person ; rdfs:range xsd:double ; soya:classification soya:generalization .
"""


def test_records():
    before = json.dumps(RECORDS)
    answer = anonymize_attributes(RECORDS, INLINE, seed=1)
    assert [record["pay"] for record in answer.data] == PAY
    assert [record["name"] for record in answer.data] == ["*****", None, "*****", "*****", "*****"]
    assert answer.data[4]["born"] is None
    assert all("1890-01-01" <= record["born"] <= "1995-05-05" for record in answer.data[:4])
    assert answer.kpis["kAnonymity"] == 1
    assert json.dumps(RECORDS) == before


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
def test_frames_give_the_same(kind):
    frame = {
        "pandas": lambda: pd.DataFrame(RECORDS, index=list("vwxyz")),
        "polars": lambda: pl.DataFrame(RECORDS),
        "lazy": lambda: pl.LazyFrame(RECORDS),
        "arrow": lambda: pa.Table.from_pylist(RECORDS),
    }[kind]()
    answer = anonymize_attributes(frame, INLINE, seed=1)
    expected = anonymize_attributes(RECORDS, INLINE, seed=1)
    assert answer.kpis == expected.kpis
    if kind == "pandas":
        assert isinstance(answer.data, pd.DataFrame)
        assert list(answer.data.index) == list("vwxyz")
        rows = answer.data.astype(object).where(answer.data.notna(), None).to_dict("records")
    elif kind == "arrow":
        assert isinstance(answer.data, pa.Table)
        rows = answer.data.to_pylist()
    else:
        assert isinstance(answer.data, pl.DataFrame)
        rows = answer.data.to_dicts()
    assert rows == expected.data


def test_native_dates_and_missing_values_of_pandas():
    frame = pd.DataFrame(
        {
            "born": pd.to_datetime(["1990-01-01", None, "1995-05-05"]),
            "pay": pd.array([1, None, 3], dtype="Int64"),
            "name": ["a", None, float("nan")],
        }
    )
    answer = anonymize_attributes(frame, INLINE)
    assert next(iter(answer.data["pay"])) == "1.0 - 3.0"
    assert answer.data["born"].isna().tolist() == [False, True, False]
    assert answer.data["name"].isna().tolist() == [False, True, True]


def test_ranges_in_a_frame():
    frame = pl.DataFrame({"pay": [1.0, 2.0, None]})
    from sfumato.attributes.configuration import AttributeRule, Configuration
    from sfumato.attributes.operations.operation import type_named

    configuration = Configuration((AttributeRule("pay", "Generalization", type_named("Double")),), form="range")
    answer = anonymize_attributes(frame, configuration)
    assert answer.data["pay_range"].to_list() == [{"min": 1.0, "max": 2.0}] * 2 + [None]


def test_files_of_configuration(tmp_path):
    graph = tmp_path / "person.ttl"
    graph.write_text(TURTLE)
    records = [{"name": "A", "pay": 1, "more": 2}, {"name": "B", "pay": 5}]
    ranged = anonymize_attributes(records, graph)
    assert ranged.data[0] == {"name": "*****", "pay_range": {"min": 1.0, "max": 5.0}, "more": 2}
    with pytest.raises(PlanError, match="more"):
        anonymize_attributes(records, graph, pass_through=False)
    text = tmp_path / "inline.yaml"
    text.write_text("pay: {anonymisationType: generalization, dataType: Double}\n")
    assert anonymize_attributes([{"pay": 1}, {"pay": 5}], str(text)).data == [{"pay": "1.0 - 5.0"}] * 2
    whole = tmp_path / "request.json"
    whole.write_text(json.dumps({"configuration": {"pay": INLINE["pay"]}}))
    assert anonymize_attributes([{"pay": 1}, {"pay": 5}], whole).data == [{"pay": "1.0 - 5.0"}] * 2


def test_ontology_is_checked():
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.ontology"):
        anonymize_attributes(RECORDS, INLINE, ontology="Beispiele/anonymization_ontology.json")


def test_object_type_of_an_ontology(tmp_path):
    (tmp_path / "crew.ttl").write_text(
        TURTLE
        + """@prefix owl: <http://www.w3.org/2002/07/owl#> .
:deck rdfs:domain :Cabin . :ship rdfs:domain :Cabin .
:cabin owl:equivalentClass [ a owl:Restriction ; owl:onProperty soya:anonymizationType ;
  owl:someValuesFrom [ owl:oneOf ( soya:Generalization ) ] ] ."""
    )
    configuration = {"cabin": {"anonymisationType": "Generalization", "dataType": "Cabin"}}
    records = [{"cabin": {"deck": number, "ship": "Beagle"}} for number in range(4)]
    sources = Sources(Fetcher(), tmp_path)
    answer = anonymize_attributes(records, configuration, ontology="crew.ttl", sources=sources)
    assert [record["cabin"] for record in answer.data] == ["Beagle"] * 4
    masked = {"cabin": {"anonymisationType": "Masking", "dataType": "Cabin"}}
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.ontology"):
        anonymize_attributes(records, masked, ontology="crew.ttl", sources=sources)


@pytest.mark.parametrize(
    ("data", "error", "expected"),
    [
        ([], DataError, "no data"),
        (pl.DataFrame({"pay": pl.Series([], dtype=pl.Float64)}), DataError, "no data"),
        ([1, 2], DataError, "not a mapping"),
        (5, DataError, "neither records nor a frame"),
        ([{"pay": 1, "age": 1}], PlanError, '"age"'),
        ([{"age": 1}], DataError, "none of the attributes"),
        (pl.DataFrame({"age": [1]}), DataError, "none of the attributes"),
    ],
)
def test_what_is_refused(data, error, expected):
    with pytest.raises(error, match=expected):
        anonymize_attributes(data, INLINE)


def test_names_that_may_be_values_are_for_the_caller_alone():
    with pytest.raises(DataError) as caught:
        anonymize_attributes([{"Greta Graf": "Flu"}], INLINE, pass_through=True)
    assert caught.value.values == ("Greta Graf",)
    assert "Greta" not in str(caught.value)


def test_a_name_that_is_taken_is_refused(tmp_path):
    path = tmp_path / "person.ttl"
    path.write_text(TURTLE)
    with pytest.raises(PlanError, match='published as "pay_range"'):
        anonymize_attributes([{"pay": 1, "pay_range": "x"}], path)


@pytest.mark.parametrize("buckets", [0, -1, "many", True, 1.5])
def test_no_rule_for_buckets(buckets):
    with pytest.raises(PlanError, match="buckets"):
        anonymize_attributes(RECORDS, INLINE, buckets=buckets)


ALIKE = ["Name", "name ", "NAME", "\ufeffname", "na-me", "ｎａｍｅ"]


@pytest.mark.parametrize("written", ALIKE)
@pytest.mark.parametrize("pass_through", [None, True])
def test_attributes_that_look_like_configured_ones_do_not_pass(tmp_path, written, pass_through):
    (tmp_path / "person.ttl").write_text(TURTLE)
    for configuration in (tmp_path / "person.ttl", INLINE):
        with pytest.raises(PlanError, match=r"look alike|no operation is configured"):
            anonymize_attributes([{written: "Zoë", "pay": 3}, {"pay": 4}], configuration, pass_through=pass_through)


def test_names_in_two_unicode_forms_look_alike():
    configuration = {"prénom": {"anonymisationType": "Masking", "dataType": "String"}}
    rows = [{"prénom": "Zoë", unicodedata.normalize("NFD", "prénom"): "Zoë"}]
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.attribute-alike") as refused:
        anonymize_attributes(rows, configuration, pass_through=True)
    assert refused.value.code == "plan.attribute-alike"


def test_other_attributes_pass_as_ever():
    answer = anonymize_attributes([{"name": "Zoë", "names": 2}], {"name": INLINE["name"]}, pass_through=True)
    assert answer.data == [{"name": "*****", "names": 2}]


def test_an_index_with_a_name_is_an_attribute():
    frame = pd.DataFrame(RECORDS[:1] + RECORDS[2:4]).set_index("name")
    pay = {name: INLINE[name] for name in ("pay", "born")}
    with pytest.raises(PlanError, match='"name"'):
        anonymize_attributes(frame, pay)
    answer = anonymize_attributes(frame, INLINE).data
    assert answer["name"].tolist() == ["*****"] * 3
    assert answer.index.equals(pd.RangeIndex(3))
    passed = anonymize_attributes(frame, pay, pass_through=True)
    assert passed.warnings[-1] == "Passed through unchanged: name."
    with pytest.raises(DataError, check=lambda error: error.code == "data.duplicate-columns"):
        anonymize_attributes(frame.assign(name="x"), INLINE)
    assert frame.index.name == "name"
