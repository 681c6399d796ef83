"""Configurations, ontologies and contexts in knowledge graphs: any class, any object types, both notations."""

import json

import pytest

from sfumato.attributes.configuration import check_allowed, inline
from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.knowledge_graph.configurations import allowed_operations, configuration_of, read_classes
from sfumato.attributes.knowledge_graph.documents import Request, anonymize_document
from sfumato.attributes.knowledge_graph.parsing import parse, parse_document, with_contexts
from sfumato.attributes.sources import Sources
from sfumato.errors import DataError, PlanError

BASE = "https://ships.example/"
HEAD = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix soya: <https://w3id.org/soya/ns#> .
@prefix : <https://ships.example/> .
"""
TWO_CLASSES = (
    HEAD
    + """:age rdfs:domain :Sailor ; rdfs:range xsd:int ; soya:classification soya:Generalization .
:berth rdfs:domain :Sailor ; rdfs:range :Berth ; soya:classification "generalization" .
:home rdfs:domain :Sailor ; rdfs:range :Home ; soya:classification soya:masking .
:note rdfs:domain :Sailor ; rdfs:range xsd:string .
:tons rdfs:domain :Ship ; rdfs:range xsd:decimal ; soya:classification soya:RANDOMIZATION .
:z rdfs:domain :Berth ; rdfs:range xsd:string . :a rdfs:domain :Berth ; rdfs:range xsd:string .
:m rdfs:domain :Berth ; rdfs:range xsd:string . :town rdfs:domain :Home ; rdfs:range xsd:string ."""
)


def of(text, **more):
    return configuration_of(parse(HEAD + text, "text/turtle"), **more)


def shown(configuration):
    return [
        (rule.attribute, rule.operation, rule.data_type.kind, rule.data_type.levels) for rule in configuration.rules
    ]


def test_several_classes_and_object_types():
    graph = parse(TWO_CLASSES, "text/turtle")
    assert shown(configuration_of(graph, "Sailor")) == [
        ("age", "Generalization", "integer", ()),
        ("berth", "Generalization", "object", ("z", "a", "m")),
        ("home", "Masking", "object", ("town",)),
    ]
    assert shown(configuration_of(graph, BASE + "Ship")) == [("tons", "Randomization", "numeric", ())]
    assert shown(configuration_of(graph, address="https://x.example/graphs/Ship#")) == shown(
        configuration_of(graph, "Ship")
    )
    assert {kind.name for kind in read_classes(graph).object_types()} == {"Sailor", "Ship", "Berth", "Home"}


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        (TWO_CLASSES, {}, "several data classes: Sailor, Ship"),
        (TWO_CLASSES, {"data_class": "Sailer"}, "no such data class"),
        (
            ":a rdfs:domain :C ; rdfs:range xsd:int ; soya:classification soya:hashing .",
            {},
            "hashing is not an operation",
        ),
        (":a rdfs:domain :C ; soya:classification soya:masking .", {}, "rdfs:range"),
        (":a rdfs:domain :C ; rdfs:range xsd:int, xsd:date ; soya:classification soya:masking .", {}, "more than one"),
        (":a rdfs:domain :C ; rdfs:range xsd:int .", {}, "configures no attribute"),
        (":a a :B .", {}, "configures no attribute"),
        (
            ":a rdfs:domain :C ; rdfs:range xsd:int ; soya:classification soya:masking, soya:generalization .",
            {},
            "more than one",
        ),
        (
            ":a rdfs:domain :C ; rdfs:range xsd:int ; soya:classification soya:masking . "
            "<http://b.example/a> rdfs:domain :C ; rdfs:range xsd:int ; soya:classification soya:masking .",
            {},
            "two attributes have this name",
        ),
    ],
)
def test_configuration_that_contradicts_itself(text, more, expected):
    with pytest.raises(PlanError, match=expected):
        of(text, **more)


def test_graph_that_is_only_large_is_refused():
    lines = (f":a{n} rdfs:domain :C{n} ; rdfs:range xsd:int ; soya:classification soya:masking ." for n in range(1_001))
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.graph-too-large"):
        of("\n".join(lines))


def test_order_of_levels_is_the_documents_in_json_ld():
    names = ["m", "z", "a", "k", "b"]
    graph = [{"@id": "person", "domain": "P", "range": "O", "classification": "soya:generalization"}]
    graph += [{"@id": name, "domain": "O", "range": "xsd:string"} for name in names]
    document = {"@context": ["https://ns.ownyourdata.eu/ns/soya-context.json", {"@base": BASE}], "@graph": graph}
    assert configuration_of(parse_document(document)).rules[0].data_type.levels == tuple(names)


@pytest.mark.parametrize("text", ["", "nonsense", "[1, 2]", '"text"', "{}", '{"a": 1}', "[" * 10_000, '{"@id": 5}'])
def test_not_json_ld(text):
    with pytest.raises(PlanError, match=r"not valid JSON-LD|nested too deeply"):
        parse(text)


def test_context_of_a_stranger_is_refused_wherever_it_stands():
    stranger = "https://stranger.example/context.json"
    for document in (
        {"@context": stranger},
        {"@context": [{}, stranger]},
        {"@context": {"@import": stranger}},
        {"@context": {"a": {"@id": "x:a", "@context": stranger}}},
        {"@graph": [{"x:a": {"@context": stranger}}]},
    ):
        with pytest.raises(PlanError, check=lambda error: error.code == "plan.context"):
            with_contexts(document)


def test_context_of_an_allowed_host_is_fetched_once(pages):
    address = pages.put("/context.json", json.dumps({"@context": {"name": "https://x.example/name"}}).encode())
    sources = Sources(Fetcher(frozenset({"127.0.0.1"})))
    for _ in range(2):
        document = with_contexts({"@context": address, "@id": "x:1", "name": "A"}, sources.load_context)
    assert document["@context"] == {"name": "https://x.example/name"}
    assert len(pages.asked) == 1
    loop = pages.url("/loop.json")
    pages.put("/loop.json", json.dumps({"@context": loop}).encode())
    with pytest.raises(PlanError, match=r"too many|too deeply"):
        with_contexts({"@context": loop}, sources.load_context)


def test_bundled_ontology_and_its_import():
    allowed = Sources(Fetcher()).ontology("Beispiele/anonymization_ontology.json").allowed
    assert allowed["Gehalt"] == {"masking", "generalization", "randomization"}
    assert allowed["Name"] == {"masking"}
    imported = {
        "@context": {"@import": "https://ns.ownyourdata.eu/ns/soya-context.json", "@base": "https://o.example/x#"},
        "@graph": [
            {
                "@id": "A-B.",
                "owl:equivalentClass": {
                    "@type": "owl:Restriction",
                    "owl:onProperty": {"@id": "https://other.example/ns#anonymizationType"},
                    "owl:someValuesFrom": {"owl:oneOf": {"@list": [{"@id": "soya:Masking"}, {"@id": "soya:Own"}]}},
                },
            }
        ],
    }
    assert allowed_operations(parse_document(imported)) == {"A-B.": {"masking", "own"}}


def test_graph_without_restrictions_is_no_ontology():
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.ontology-empty"):
        allowed_operations(parse(TWO_CLASSES, "text/turtle"))


def test_check_names_every_refusal():
    configuration = inline(
        {
            "Name": {"anonymisationType": "Randomization", "dataType": "Date"},
            "Hat": {"anonymisationType": "Masking", "dataType": "String"},
            "Gehalt": {"anonymisationType": "Masking", "dataType": "String"},
        }
    )
    with pytest.raises(PlanError) as refusal:
        check_allowed(configuration, Sources(Fetcher()).ontology("Beispiele/anonymization_ontology.json").allowed)
    assert [fault.path for fault in refusal.value.issues] == ["Name", "Hat"]


def sailors(count=6):
    return [
        {
            "@id": f"s:{n}",
            "@type": "s:Sailor",
            "s:age": 20 + n,
            "s:note": "kept",
            "s:berth": {"s:z": f"z{n}", "s:m": "M"},
        }
        for n in range(count)
    ]


def document(nodes):
    return {"@context": {"s": BASE}, "@graph": nodes}


def test_document_with_two_classes():
    nodes = [*sailors(), *({"@id": f"s:ship{n}", "@type": "s:Ship", "s:tons": 100.5 * n} for n in range(4))]
    answer = anonymize_document(document(nodes), parse(TWO_CLASSES, "text/turtle"), Request(buckets=2, seed=1))
    graph = {node["@id"]: node for node in answer.data["@graph"]}
    assert graph["s:0"]["s:berth_generalized"] == "M"
    assert graph["s:0"]["s:note"] == "kept"
    assert graph["s:0"]["s:age_generalized"] == graph["s:2"]["s:age_generalized"] != graph["s:5"]["s:age_generalized"]
    assert 0 <= graph["s:ship2"]["s:tons_randomized"] <= 301.5
    assert answer.kpis["kAnonymity"] == 1  # noise makes no groups
    assert "z0" not in json.dumps(answer.data)


def test_named_graphs_and_aliases_do_not_hide_a_value():
    nodes = [
        {"@id": f"x:{n}", "kind": "Sailor", "years": {"@value": str(40 + n), "@type": "xsd:int"}, "@index": "i"}
        for n in range(4)
    ]
    context = {"@vocab": BASE, "kind": "@type", "years": BASE + "age", "xsd": "http://www.w3.org/2001/XMLSchema#"}
    inner = {"@context": context, "@graph": [{"@id": "x:graph", "@graph": nodes}]}
    answer = anonymize_document(inner, parse(TWO_CLASSES, "text/turtle"), Request(pass_through=True))
    text = json.dumps(answer.data)
    assert '"41"' not in text
    assert "years_generalized" in text


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"@id": "s:x", "s:age": 5}, "no class that the configuration knows"),
        ({"@id": "s:x", "@type": "s:Parrot", "s:words": "arr"}, "no class that the configuration knows"),
        ({"@id": "s:x", "@type": "s:Sailor", "s:age": [5, 6]}, "several values"),
        ({"@id": "s:x", "@type": "s:Sailor", "s:age": "old"}, "is not numeric"),
    ],
)
def test_document_that_is_refused(node, expected):
    with pytest.raises((PlanError, DataError), match=expected):
        anonymize_document(document([*sailors(), node]), parse(TWO_CLASSES, "text/turtle"), Request())


def test_raw_value_on_a_node_of_another_class_is_refused_even_when_passing_through():
    nodes = [*sailors(), {"@id": "s:x", "@type": "s:Parrot", "s:age": 77}]
    with pytest.raises(PlanError) as refused:
        anonymize_document(document(nodes), parse(TWO_CLASSES, "text/turtle"), Request(pass_through=True))
    assert refused.value.code == "plan.attribute-elsewhere"


def test_a_turtle_text_that_only_keeps_its_reader_busy_is_refused_at_once():
    """A list of 263 kB took 12 seconds."""
    import time

    started = time.process_time()
    with pytest.raises(PlanError) as error:
        parse("@prefix : <https://a.example/> . :a :b (" + " 1" * 131_000 + ") .", "text/turtle")
    assert error.value.code == "plan.graph-too-large"
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize("address", ["http://ships.example/age", BASE + "Age", BASE + "a-ge"])
def test_an_address_that_looks_like_a_configured_one_does_not_pass(address):
    nodes = [*sailors(), {"@id": "s:x", "@type": "s:Sailor", address: 77}]
    for pass_through in (None, True):
        with pytest.raises(PlanError, check=lambda error: error.code == "plan.attribute-alike"):
            anonymize_document(document(nodes), parse(TWO_CLASSES, "text/turtle"), Request(pass_through=pass_through))
