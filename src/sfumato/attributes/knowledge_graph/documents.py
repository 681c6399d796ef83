"""Data that are themselves a knowledge graph: originals are removed, anonymized values come as nodes of new names.

Whatever way a document writes a value, it ends as a statement of the graph, so nothing slips by in a spelling that was
not foreseen. A node whose class has no configuration is refused unless passing through is asked for.
"""

import json
from dataclasses import dataclass
from typing import Any

from rdflib import RDF, XSD, Graph, Literal, URIRef
from rdflib.plugins.shared.jsonld.context import Context

from sfumato.attributes.anonymize import Anonymized, anonymize_records
from sfumato.attributes.configuration import Configuration, Rule
from sfumato.attributes.knowledge_graph.configurations import Classes, read_classes, rules_of
from sfumato.attributes.knowledge_graph.names import SOYA, local_name
from sfumato.attributes.knowledge_graph.parsing import BASE, order_of, parse_document
from sfumato.attributes.operations.operation import find
from sfumato.attributes.remote.contexts import ContextLoader, refuse, with_contexts
from sfumato.errors import DataError, PlanError

TYPES = {"numeric": "double", "integer": "integer", "date": "date", "datetime": "dateTime"}


@dataclass(frozen=True, slots=True)
class Request:
    """How a document is to be anonymized; what is None is as the configuration says."""

    buckets: Any = None
    pass_through: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class _Class:
    """One class of the configuration: its rules, and for each attribute its address, levels and new ending."""

    iri: str
    configuration: Configuration
    addresses: dict[str, str]
    levels: dict[str, dict[str, str]]
    suffixes: dict[str, str]


def anonymize_document(
    document: Any, configuration: Graph, request: Request, load: ContextLoader = refuse
) -> Anonymized:
    """Anonymize a JSON-LD document.

    Raises:
        PlanError: The document is no JSON-LD, or a node's class is not configured.
        DataError: A value does not fit its operation, or an attribute has several values on one node.
    """
    graph = parse_document(document, BASE, load)
    order = dict(order_of(graph))
    declared = read_classes(configuration)
    classes = [_class(declared, iri, request) for iri in declared.data_classes()]
    if not request.pass_through:
        _check_types(graph, classes)
    answers = [answer for one in classes for answer in _anonymize_class(graph, one, request)]
    _check_nothing_left(graph, classes)
    if not answers:
        raise DataError("no node of the document belongs to a configured class.", code="empty")
    kpis = _joined(answers)
    warnings = tuple(dict.fromkeys(warning for answer in answers for warning in answer.warnings))
    _add_kpis(graph, kpis, warnings)
    context = document.get("@context", {}) if isinstance(document, dict) else {}
    terms = with_contexts({"@context": context}, load)["@context"]
    return Anonymized(_written(graph, _extended(terms, classes), order), kpis, warnings)


def _class(classes: Classes, iri: str, request: Request) -> _Class:
    attributes = classes.attributes[iri]
    configuration = rules_of(classes, iri).with_options(request.buckets, pass_through=True, form="graph")
    levels = {
        attribute.name: {level.name: level.iri for level in classes.attributes.get(attribute.range, ())}
        for attribute in attributes
    }
    suffixes = {
        rule.attribute: find(rule.operation, rule.data_type, rule.attribute).graph_suffix
        for rule in configuration.rules
    }
    return _Class(iri, configuration, {attribute.name: attribute.iri for attribute in attributes}, levels, suffixes)


def _check_types(graph: Graph, classes: list[_Class]) -> None:
    """Every node must belong to a configured class or be an object of one of their attributes."""
    members = {node for one in classes for node in graph.subjects(RDF.type, URIRef(one.iri))}
    parts = {
        value
        for one in classes
        for rule in one.configuration.rules
        for value in graph.objects(None, URIRef(one.addresses[rule.attribute]))
    }
    foreign = sum(1 for node in set(graph.subjects()) if node not in members and node not in parts)
    if foreign:
        what = f"{foreign} node(s) belong to no class that the configuration knows."
        raise PlanError(
            what, "Configure their class, or ask for passThrough to publish them unchanged.", "unknown-class"
        )


def _anonymize_class(graph: Graph, one: _Class, request: Request) -> list[Anonymized]:
    order = order_of(graph)
    nodes = sorted(set(graph.subjects(RDF.type, URIRef(one.iri))), key=lambda node: order[node])
    if not nodes:
        return []
    rules = {rule.attribute: rule for rule in one.configuration.rules}
    records = [_record(graph, node, one, rules) for node in nodes]
    answer = anonymize_records(records, one.configuration, request.seed)
    for node, published in zip(nodes, answer.data, strict=True):
        _remove(graph, node, one, rules)
        _add(graph, node, published, one, rules)
    return [answer]


def _record(graph: Graph, node: Any, one: _Class, rules: dict[str, Rule]) -> dict[str, Any]:
    record = {}
    for name, rule in rules.items():
        values = list(graph.objects(node, URIRef(one.addresses[name])))
        if len(values) > 1:
            raise DataError(f'a node has several values of the attribute "{name}".', code="several-values", column=name)
        if values:
            record[name] = _plain(graph, values[0], rule, one.levels[name])
    return record


def _plain(graph: Graph, value: Any, rule: Rule, levels: dict[str, str]) -> Any:
    if isinstance(value, Literal):
        number = value.value if isinstance(value.value, int | float) else None
        return str(value) if number is None or rule.data_type.kind in ("date", "datetime") else number
    if rule.data_type.kind != "object":
        return str(value)
    parts = {name: graph.value(value, URIRef(iri)) for name, iri in levels.items()}
    return {name: part.toPython() if isinstance(part, Literal) else str(part) for name, part in parts.items() if part}


def _remove(graph: Graph, node: Any, one: _Class, rules: dict[str, Rule]) -> None:
    for name, rule in rules.items():
        address = URIRef(one.addresses[name])
        if rule.data_type.kind == "object":
            for value in list(graph.objects(node, address)):
                graph.remove((value, None, None))
        graph.remove((node, address, None))


def _add(graph: Graph, node: Any, published: dict[str, Any], one: _Class, rules: dict[str, Rule]) -> None:
    for name, rule in rules.items():
        suffix = one.suffixes[name]
        value = published.get(name + suffix)
        if value is not None:
            address = URIRef(one.addresses[name])
            graph.add((node, URIRef(address + suffix), _node(graph, value, address, rule)))


def _node(graph: Graph, value: Any, address: URIRef, rule: Rule) -> Any:
    """The node for a published value; a range is a node of its own, shared by all who lie in it."""
    if not isinstance(value, dict):
        return _literal(value, rule)
    shared = URIRef(f"{address}_{value['min']}_{value['max']}")
    if (shared, RDF.type, None) in graph:
        return shared
    graph.add((shared, RDF.type, URIRef(SOYA + "generalization")))
    for bound in ("min", "max"):
        graph.add((shared, URIRef(SOYA + bound), Literal(*_typed(value[bound], "numeric", rule))))
    return shared


def _literal(value: Any, rule: Rule) -> Any:
    return Literal(value) if rule.data_type.kind not in TYPES or value == "*****" else Literal(*_typed(value, "", rule))


def _typed(value: Any, numeric: str, rule: Rule) -> tuple[str, None, Any]:
    """Bounds of whole numbers are not whole: midpoints lie between them."""
    kind = numeric if numeric and rule.data_type.kind == "integer" else rule.data_type.kind
    return str(value), None, XSD[TYPES[kind]]


def _check_nothing_left(graph: Graph, classes: list[_Class]) -> None:
    """An attribute that is configured must not stand, raw, on a node of another class."""
    for one in classes:
        for rule in one.configuration.rules:
            left = set(graph.objects(None, URIRef(one.addresses[rule.attribute]))) - {Literal("*****")}
            if left:
                what = f'the attribute "{rule.attribute}" stands on a node of another class.'
                raise PlanError(what, "Give the node its class.", "attribute-elsewhere", column=rule.attribute)


def _joined(answers: list[Anonymized]) -> dict[str, int]:
    joined = {name: number for answer in answers for name, number in answer.kpis.items()}
    return joined | {"kAnonymity": min(answer.kpis["kAnonymity"] for answer in answers)}


def _add_kpis(graph: Graph, kpis: dict[str, int], warnings: tuple[str, ...]) -> None:
    node = URIRef(SOYA + "kpiObject")
    for name, number in kpis.items():
        graph.add((node, URIRef(SOYA + name), Literal(number)))
    for warning in warnings:
        graph.add((node, URIRef(SOYA + "warning"), Literal(warning)))


def _extended(context: Any, classes: list[_Class]) -> Any:
    """The context with a term for each new name where the old name had one."""
    if not isinstance(context, dict):
        return context
    more = {}
    for term, definition in context.items():
        target = definition.get("@id") if isinstance(definition, dict) else definition
        for one in classes:
            for rule in one.configuration.rules:
                address = one.addresses[rule.attribute]
                suffix = one.suffixes[rule.attribute]
                if suffix and (target == address or (target is None and term == local_name(address))):
                    more[term + suffix] = address + suffix
    return {**context, **more}


def _written(graph: Graph, context: Any, order: dict[Any, int]) -> Any:
    text = graph.serialize(format="json-ld", context=context, auto_compact=False)
    written = json.loads(text)
    nodes = written.get("@graph", [written]) if isinstance(written, dict) else written
    expand = Context(context).expand if context else str
    places = {str(node): place for node, place in order.items()}
    nodes.sort(key=lambda node: (places.get(str(expand(_id(node))), len(places)), _id(node)))
    return written


def _id(node: dict[str, Any]) -> str:
    return str(node.get("@id", ""))
