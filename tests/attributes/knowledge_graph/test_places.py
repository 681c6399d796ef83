"""What hangs on a changed attribute goes with it, and the guard lets nothing else pass: places count, not values."""

import json
import random

import pytest
from rdflib import Graph

from sfumato.attributes.knowledge_graph import documents
from sfumato.attributes.knowledge_graph.documents import Request, anonymize_document
from sfumato.attributes.knowledge_graph.parsing import parse
from sfumato.errors import DataError, InternalError, PlanError
from sfumato.localization.messages import Message

BASE = "https://clinic.example/"
CONFIGURATION = parse(
    """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix soya: <https://w3id.org/soya/ns#> . @prefix : <https://clinic.example/> .
:name rdfs:domain :Patient ; rdfs:range xsd:string ; soya:classification soya:masking .
:pay rdfs:domain :Patient ; rdfs:range xsd:integer ; soya:classification soya:generalization .
:home rdfs:domain :Patient ; rdfs:range :Home ; soya:classification soya:generalization .
:room rdfs:domain :Doctor ; rdfs:range :Home ; soya:classification soya:masking .
:town rdfs:domain :Home ; rdfs:range xsd:string .""",
    "text/turtle",
)
SHAPES = {
    "a node without a name": {":first": "Anna", ":last": "Huber"},
    "a node with a name": {"@id": ":n", ":last": "Huber"},
    "a list": {"@list": ["Anna", "Huber"]},
    "a list of nodes": {"@list": [{":last": "Huber"}]},
    "a node in a node": {":part": {":last": "Huber"}},
    "two nodes in a circle": {"@id": ":n", ":other": {"@id": ":m", ":last": "Huber", ":other": {"@id": ":n"}}},
    "a node that names its owner": {"@id": ":n", ":last": "Huber", ":of": {"@id": ":one"}},
    "a value in a language": {"@value": "Huber", "@language": "de"},
}


def document(*nodes, **more):
    return {"@context": {"": BASE, "@vocab": BASE, **more}, "@graph": list(nodes)}


def patient(name, **more):
    return {"@id": ":one", "@type": ":Patient", ":name": name, **more}


def sent(content, pass_through=None):
    return json.dumps(anonymize_document(content, CONFIGURATION, Request(pass_through=pass_through, seed=1)).data)


@pytest.mark.parametrize("pass_through", [None, False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_hangs_on_a_masked_attribute_goes_with_it(shape, pass_through):
    text = sent(document(patient(SHAPES[shape])), pass_through)
    assert "*****" in text
    assert "Huber" not in text
    assert "Anna" not in text


def test_a_further_class_of_a_node_is_refused_or_named() -> None:
    content = document({**patient("Anna"), "@type": [":Patient", ":Diabetic"]})
    with pytest.raises(PlanError, match="@type"):
        anonymize_document(content, CONFIGURATION, Request(pass_through=False, seed=1))
    answer = anonymize_document(content, CONFIGURATION, Request(seed=1))
    assert any("@type" in warning for warning in answer.warnings)
    plain = anonymize_document(document(patient("Anna")), CONFIGURATION, Request(seed=1))
    assert not any("@type" in warning for warning in plain.warnings)


LAST = {"@id": ":z", ":last": "Huber"}
GRAPHS = {
    "a graph": document(patient({"@graph": [LAST]})),
    "a graph with a name": document(patient({"@id": ":n", "@graph": [{"@id": ":n", ":last": "Huber"}]})),
    "a graph in a node": document(patient({":part": {"@graph": [LAST]}})),
    "a graph in a list": document(patient({"@list": [{"@graph": [LAST]}]})),
    "a graph by another word": document(patient({"g": [LAST]}), g="@graph"),
    "a term whose values are graphs": document(patient("x", n=LAST), n={"@id": BASE + "name", "@container": "@graph"}),
    "a context inside": document(patient({"@context": {"g": "@graph"}, "g": [LAST]})),
    "a graph beside": document(patient({"@id": ":g"}), {"@id": ":g", "@graph": [LAST]}),
    "a list of documents": [document(patient("x")), document(patient({"@graph": [LAST]}))],
}


@pytest.mark.parametrize("pass_through", [False, True])
@pytest.mark.parametrize("form", GRAPHS)
def test_a_graph_in_the_place_of_a_value_is_refused(form, pass_through):
    """Its nodes stayed where passing through was asked for: no statement says that they hang on the value."""
    with pytest.raises(PlanError) as refusal:
        sent(GRAPHS[form], pass_through)
    assert refusal.value.code in ("plan.graph-as-value", "graph-as-value"), refusal.value.code


def test_a_class_that_is_not_configured_is_refused_behind_a_masked_attribute():
    stranger = document(patient({"@type": ":Stranger", ":last": "Huber"}))
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.unknown-class"):
        sent(stranger)
    assert "Huber" not in sent(stranger, pass_through=True)


def test_what_is_also_named_elsewhere_stays_only_where_passing_through_is_asked_for():
    content = document(patient({"@id": ":n", ":last": "Huber"}, **{":friend": {"@id": ":n"}}))
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.unknown-class"):
        sent(content)
    assert "Huber" in sent(content, pass_through=True)


def test_equal_values_elsewhere_bounds_and_levels_are_no_alarm():
    homes = [{":town": "Graz"}] * 3
    nodes = [
        {"@id": f":{n}", "@type": ":Patient", ":name": "Graz", ":pay": 10 + n, ":home": home, ":note": "Graz 10"}
        for n, home in enumerate(homes)
    ]
    text = sent(document(*nodes))
    assert text.count('"Graz"') == 3  # the level, for each
    assert "Graz 10" in text


def test_a_node_that_two_classes_share_is_read_by_both_before_it_goes():
    shared = {"@id": ":h", ":town": "Graz"}
    nodes = [patient("A", **{":home": shared}), {"@id": ":d", "@type": ":Doctor", ":room": {"@id": ":h"}}]
    text = sent(document(*nodes))
    assert "Graz" not in text


OTHER = {"@type": ":Patient", ":name": "Maier", ":last": "Huber"}
RECORDS = {
    "a patient": {":name": OTHER},
    "a patient with an address": {":name": {"@id": ":two", **OTHER}},
    "a patient deep in a node": {":name": {":part": OTHER}},
    "a patient in a list": {":name": {"@list": [OTHER]}},
    "a patient under a level": {":name": "A", ":home": {":town": "Graz", ":owner": OTHER}},
    "a patient of a patient": {":name": {"@type": ":Patient", ":name": OTHER}},
    "a patient who names her owner": {":name": {**OTHER, ":of": {"@id": ":one"}}},
    "the value comes first": {":name": {**OTHER, ":of": {"@id": ":one"}}, "@type": ":Patient"},
}


@pytest.mark.parametrize("pass_through", [None, True])
@pytest.mark.parametrize("form", RECORDS)
def test_a_record_to_which_only_changed_attributes_lead_is_removed(form, pass_through):
    """Such records kept their other attributes: they were said to be published in their own right."""
    text = sent(document({"@id": ":one", "@type": ":Patient", **RECORDS[form]}), pass_through)
    assert "Huber" not in text
    assert "Maier" not in text
    assert str(Message("note.removed_nodes", count=2 if form == "a patient of a patient" else 1)) in text
    assert f'"{BASE}one"' in text


def test_a_record_that_is_named_elsewhere_too_stays():
    other = {"@id": ":two", "@type": ":Patient", ":name": "Huber", ":note": "kept"}
    text = sent(document(patient({"@id": ":two"}, **{":friend": other})))
    assert "Huber" not in text
    assert "kept" in text


def test_of_records_that_name_each_other_by_changed_attributes_none_stays():
    pair = [patient({"@id": ":two"}, **{":last": "Huber"}), {**OTHER, "@id": ":two", ":name": {"@id": ":one"}}]
    with pytest.raises(DataError, check=lambda error: error.code == "data.empty"):
        sent(document(*pair))
    assert "Huber" not in sent(document(*pair, {"@id": ":three", "@type": ":Patient", ":name": "C"}))


def test_attributes_without_an_operation_are_named_or_refused():
    content = document(patient("A", **{":note": "free", ":name_of_dog": "Rex"}))
    assert "Passed through unchanged: name_of_dog, note." in sent(content, None)
    with pytest.raises(PlanError, match=r'2 attribute.*"name_of_dog", "note"') as refusal:
        sent(content, False)
    assert refusal.value.code.endswith("unknown-attribute")
    assert "Passed" not in sent(document(patient("A")), False)


def test_a_value_may_not_wait_where_a_published_one_goes():
    with pytest.raises(PlanError, match="pay_generalized"):
        sent(document(patient("A", **{":pay": 7, ":pay_generalized": "51234"})))


_write = documents._written


def _written_wrongly(graph, context, order):
    return json.loads(json.dumps(_write(graph, context, order)).replace("*****", "****"))


def _written_partly(graph, context, order):
    smaller = Graph()
    for statement in graph:
        if str(statement[1]) != BASE + "name":
            smaller.add(statement)
    return _write(smaller, context, order)


FAULTS = {
    "originals stay": ("hidden_nodes", lambda places: set()),
    "a wrong value is written": ("_written", _written_wrongly),
    "a value is left out": ("_written", _written_partly),
}


@pytest.mark.parametrize("value", [{":last": "Huber"}, {":part": OTHER}], ids=["a node", "a record"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_sends_nothing(monkeypatch, fault, value):
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(documents, name, wrong)
    with pytest.raises(InternalError, check=lambda error: error.code == "internal.places") as caught:
        sent(document(patient(value)), pass_through=True)
    assert caught.value.status.http == 500


def test_no_false_alarm_and_no_value_on_random_documents():
    """Nodes that name one another at random: what is behind names alone goes, and the guard agrees with the removal."""
    dice = random.Random(7)
    literals = ["x", 7, 1.5, True, {"@value": "01", "@type": "http://www.w3.org/2001/XMLSchema#integer"}, -0.0, 10**30]
    literals += [{"@value": "1", "@type": "http://www.w3.org/2001/XMLSchema#boolean"}, {"@list": [1, "y"]}, 1e300]
    literals += [{"@value": "z", "@language": "de"}, {"@value": "2020-01-01", "@type": "http://a.example/date"}, "é\n"]
    for _ in range(150):
        names = [f":n{number}" for number in range(dice.randrange(2, 8))]
        nodes = []
        for name in names:
            node = {"@id": name, ":open": dice.choice(literals)}
            if dice.random() < 0.6:
                node[dice.choice([":to", ":name"])] = {"@id": dice.choice(names)}
            if dice.random() < 0.5:
                node |= {"@type": ":Patient", ":name": dice.choice([{"@id": dice.choice(names)}, {":raw": "SECRET"}])}
            nodes.append(node)
        nodes.append({"@id": ":last", "@type": ":Patient", ":name": {":raw": ["SECRET", {":deep": "SECRET"}]}})
        try:
            text = sent(document(*nodes), pass_through=True)
        except (PlanError, DataError) as error:
            # a name on a node that is no patient; all patients in one circle
            assert "another class" in str(error) or "record of its own" in str(error)
            continue
        assert "SECRET" not in text
