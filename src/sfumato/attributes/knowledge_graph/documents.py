"""Data that are themselves a knowledge graph: originals are removed, anonymized values come as nodes of new names.

Whatever way a document writes a value, it ends as a statement of the graph, so nothing slips by in a spelling that was
not foreseen. What hangs on a changed attribute alone goes with it. A node whose class has no configuration is refused
unless passing through is asked for.
"""

import json
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from rdflib import RDF, Graph, Literal, URIRef
from rdflib.plugins.serializers.jsonld import from_rdf
from rdflib.plugins.shared.jsonld.context import Context

from sfumato.attributes.anonymize import Anonymized, anonymize_records
from sfumato.attributes.knowledge_graph.configurations import read_classes
from sfumato.attributes.knowledge_graph.document_classes import DocumentClass, document_class
from sfumato.attributes.knowledge_graph.graph_names import has_named_graphs
from sfumato.attributes.knowledge_graph.names import SOYA, local_name
from sfumato.attributes.knowledge_graph.parsing import BASE, order_of, parse_document
from sfumato.attributes.knowledge_graph.place_guard import Places, Statement, check_places
from sfumato.attributes.remote.contexts import ContextLoader, refuse, with_contexts
from sfumato.errors import DataError, PlanError


@dataclass(frozen=True, slots=True)
class Request:
    """How a document is to be anonymized; what is None is as the configuration says."""

    buckets: Any = None
    pass_through: bool = False
    seed: int | None = None


def anonymize_document(
    document: Any, configuration: Graph, request: Request, load: ContextLoader = refuse
) -> Anonymized:
    """Anonymize a JSON-LD document.

    Raises:
        PlanError: The document is no JSON-LD, or a node's class is not configured.
        DataError: A value does not fit its operation, or an attribute has several values on one node.
        InternalError: The answer would hold what no operation returned.
    """
    graph = parse_document(document, BASE, load)
    named = has_named_graphs(with_contexts(document, load))
    order = dict(order_of(graph))
    declared = read_classes(configuration)
    classes = [document_class(declared, iri, request.buckets) for iri in declared.data_classes()]
    places = _places(graph, classes)
    if named and not all(isinstance(value, Literal) for _, _, value in places.changed):
        what = "the document names its graphs, and an attribute that is changed may mean one of them."
        raise PlanError(what, "Write the nodes into one graph without a name.", "graph-as-value")
    hidden = _hanging_on(places)
    if not request.pass_through:
        _check_types(places, hidden, declared.attributes.keys())
    _check_names(graph, classes)
    answers, published = _anonymized(graph, classes, request.seed)
    for statement in places.changed:
        graph.remove(statement)
    for node in hidden:
        graph.remove((node, None, None))
    _check_nothing_left(graph, classes)
    kpis = _joined(answers)
    warnings = tuple(dict.fromkeys(warning for answer in answers for warning in answer.warnings))
    published |= set(_figures(kpis, warnings))
    for statement in published:
        graph.add(statement)
    context = document.get("@context", {}) if isinstance(document, dict) else {}
    terms = with_contexts({"@context": context}, load)["@context"]
    answer = _written(graph, _extended(terms, classes), order)
    check_places(answer, places, published)
    return Anonymized(answer, kpis, warnings)


def _places(graph: Graph, classes: list[DocumentClass]) -> Places:
    members = {node for one in classes for node in one.nodes(graph)}
    changed = {statement for one in classes for statement in one.sources(graph)}
    return Places(frozenset(graph), frozenset(changed), frozenset(members))


def _hanging_on(places: Places) -> set[Any]:
    """The nodes that hang on changed attributes alone: behind one of them, and named by nobody who is not."""
    about: dict[Any, list[Any]] = {}
    named_by: dict[Any, list[Any]] = {}
    for subject, _, value in places.statements - places.changed:
        about.setdefault(subject, []).append(value)
        named_by.setdefault(value, []).append(subject)
    hidden: set[Any] = set()
    waiting = [value for _, _, value in places.changed]
    while waiting:
        node = waiting.pop()
        if node in about and node not in hidden and node not in places.members:
            hidden.add(node)
            waiting += about[node]
    waiting = [node for node in hidden if any(one not in hidden for one in named_by.get(node, ()))]
    while waiting:
        node = waiting.pop()
        if node in hidden:
            hidden.remove(node)
            waiting += about[node]
    return hidden


def _check_types(places: Places, hidden: set[Any], declared: Set[str]) -> None:
    """Every node must belong to a configured class, or hang on a changed attribute and be of no foreign class."""
    typed = {node for node, name, kind in places.statements if name == RDF.type and str(kind) not in declared}
    nodes = {subject for subject, _, _ in places.statements}
    foreign = len(nodes - places.members - (hidden - typed))
    if foreign:
        what = f"{foreign} node(s) belong to no class that the configuration knows."
        raise PlanError(
            what, "Configure their class, or ask for passThrough to publish them unchanged.", "unknown-class"
        )


def _check_names(graph: Graph, classes: list[DocumentClass]) -> None:
    """No value of the document may stand where an operation publishes its own."""
    for one in classes:
        for address in one.new_names():
            if (None, address, None) in graph:
                what = f'the document already has an attribute "{local_name(address)}".'
                raise PlanError(what, "Rename it: what is published gets this name.", "name-taken")


def _anonymized(
    graph: Graph, classes: list[DocumentClass], seed: int | None
) -> tuple[list[Anonymized], set[Statement]]:
    """The answer of each class that has nodes, and all they say as statements; the graph itself stays as it is."""
    answers: list[Anonymized] = []
    published: set[Statement] = set()
    for one in classes:
        nodes = one.nodes(graph)
        if nodes:
            answers.append(anonymize_records(one.records(graph), one.configuration, seed))
            published |= set(one.statements(nodes, answers[-1]))
    if not answers:
        raise DataError("no node of the document belongs to a configured class.", code="empty")
    return answers, published


def _check_nothing_left(graph: Graph, classes: list[DocumentClass]) -> None:
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


def _figures(kpis: dict[str, int], warnings: tuple[str, ...]) -> Iterator[Statement]:
    """The key figures and warnings, as statements about a node of their own."""
    node = URIRef(SOYA + "kpiObject")
    for name, number in kpis.items():
        yield node, URIRef(SOYA + name), Literal(number)
    for warning in warnings:
        yield node, URIRef(SOYA + "warning"), Literal(warning)


def _extended(context: Any, classes: list[DocumentClass]) -> Any:
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
    content = from_rdf(graph, context, use_native_types=True)
    written = json.loads(json.dumps(content, sort_keys=True))
    nodes = written.get("@graph", [written]) if isinstance(written, dict) else written
    expand = Context(context).expand if context else str
    places = {str(node): place for node, place in order.items()}
    nodes.sort(key=lambda node: (places.get(str(expand(_id(node))), len(places)), _id(node)))
    return written


def _id(node: dict[str, Any]) -> str:
    return str(node.get("@id", ""))
