"""Anonymize data that is itself a knowledge graph: original values are removed, anonymized ones get new nodes.

However a document writes a value, it ends as a statement of the graph, so no unforeseen spelling escapes. Nodes
reachable only through a changed attribute are removed with it. A node whose class has no configuration is refused
unless passing through is requested; an attribute without one is passed and named, or refused if requested.
"""

import json
from collections.abc import Iterable, Iterator, Set
from typing import Any

from rdflib import RDF, XSD, Graph, Literal, URIRef
from rdflib.plugins.serializers.jsonld import from_rdf
from rdflib.plugins.shared.jsonld.context import Context

from sfumato.attributes.anonymize import Anonymized, anonymize_records, check_alike, check_passed, passed_warning
from sfumato.attributes.configuration import AttributeRule, Configuration
from sfumato.attributes.knowledge_graph.configurations import ClassConfigurations, read_classes, rules_of
from sfumato.attributes.knowledge_graph.leak_check import Places, Statement, check_places
from sfumato.attributes.knowledge_graph.parsing import (
    BASE,
    SOYA,
    ContextLoader,
    local_name,
    order_of,
    parse_document,
    refuse,
    with_contexts,
)
from sfumato.attributes.operations.operation import find
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.values import Value

TYPES = {"numeric": "double", "integer": "integer", "date": "date", "datetime": "dateTime"}


class DocumentClass(Value):
    """One class of the configuration: its rules, and the address, levels and new suffix of each attribute."""

    iri: str
    configuration: Configuration
    addresses: dict[str, str]
    levels: dict[str, dict[str, str]]
    suffixes: dict[str, str]

    def nodes(self, graph: Graph) -> list[Any]:
        """Return the nodes of the class, in the document's order."""
        order = order_of(graph)
        return sorted(set(graph.subjects(RDF.type, URIRef(self.iri))), key=lambda node: order[node])

    def sources(self, graph: Graph) -> Iterator[Statement]:
        """Yield the statements whose values the operations replace."""
        addresses = [URIRef(self.addresses[rule.attribute]) for rule in self.configuration.rules]
        for node in graph.subjects(RDF.type, URIRef(self.iri)):
            for address in addresses:
                yield from graph.triples((node, address, None))

    def new_names(self) -> Iterator[URIRef]:
        """Yield the addresses under which operations publish renamed attributes."""
        for name, suffix in self.suffixes.items():
            if suffix:
                yield URIRef(self.addresses[name] + suffix)

    def records(self, graph: Graph, nodes: list[Any]) -> list[dict[str, Any]]:
        """Return nodes of the class as records of configured attributes."""
        rules = {rule.attribute: rule for rule in self.configuration.rules}
        return [_record(graph, node, self, rules) for node in nodes]

    def statements(self, nodes: list[Any], answer: Anonymized) -> Iterator[Statement]:
        """Yield what the operations returned for the nodes."""
        rules = {rule.attribute: rule for rule in self.configuration.rules}
        for node, published in zip(nodes, answer.data, strict=True):
            for name, rule in rules.items():
                value = published.get(name + self.suffixes[name])
                if value is not None:
                    address = URIRef(self.addresses[name])
                    yield from _published(node, address, self.suffixes[name], value, rule)


def document_class(classes: ClassConfigurations, iri: str, buckets: Any) -> DocumentClass:
    """Return a class of the configuration by its address."""
    attributes = classes.attributes[iri]
    configuration = rules_of(classes, iri).with_options(buckets, pass_through=True, form="graph")
    levels = {
        attribute.name: {level.name: level.iri for level in classes.attributes.get(attribute.range, ())}
        for attribute in attributes
    }
    suffixes = {
        rule.attribute: find(rule.operation, rule.data_type, rule.attribute).graph_suffix
        for rule in configuration.rules
    }
    addresses = {attribute.name: attribute.iri for attribute in attributes}
    return DocumentClass(iri, configuration, addresses, levels, suffixes)


def _record(graph: Graph, node: Any, one: DocumentClass, rules: dict[str, AttributeRule]) -> dict[str, Any]:
    record = {}
    for name, rule in rules.items():
        values = list(graph.objects(node, URIRef(one.addresses[name])))
        if len(values) > 1:
            raise DataError("several-values", name=name).about(column=name)
        if values:
            record[name] = _plain(graph, values[0], rule, one.levels[name])
    return record


def _plain(graph: Graph, value: Any, rule: AttributeRule, levels: dict[str, str]) -> Any:
    if isinstance(value, Literal):
        number = value.value if isinstance(value.value, int | float) else None
        return str(value) if number is None or rule.data_type.kind in ("date", "datetime") else number
    if rule.data_type.kind != "object":
        return str(value)
    parts = {name: graph.value(value, URIRef(iri)) for name, iri in levels.items()}
    return {name: part.toPython() if isinstance(part, Literal) else str(part) for name, part in parts.items() if part}


def _published(node: Any, address: URIRef, suffix: str, value: Any, rule: AttributeRule) -> Iterator[Statement]:
    """Yield the statements for one value; a range is a separate node, shared by all values in it."""
    name = URIRef(address + suffix)
    if not isinstance(value, dict):
        yield node, name, _literal(value, rule)
        return
    shared = URIRef(f"{address}_{value['min']}_{value['max']}")
    yield node, name, shared
    yield shared, RDF.type, URIRef(SOYA + "generalization")
    for bound in ("min", "max"):
        yield shared, URIRef(SOYA + bound), Literal(*_typed(value[bound], "numeric", rule))


def _literal(value: Any, rule: AttributeRule) -> Any:
    return Literal(value) if rule.data_type.kind not in TYPES or value == "*****" else Literal(*_typed(value, "", rule))


def _typed(value: Any, numeric: str, rule: AttributeRule) -> tuple[str, None, Any]:
    """Return the typed value; bounds of integers are decimals, because midpoints lie between integers."""
    kind = numeric if numeric and rule.data_type.kind == "integer" else rule.data_type.kind
    return str(value), None, XSD[TYPES[kind]]


# The owner of a node to which changed attributes of several nodes lead.
SEVERAL = object()
GRAPH, CONTEXT, ID = "@graph", "@context", "@id"
# Keywords that define the structure of a document, not properties of a node.
FRAME = frozenset({RDF.type, RDF.first, RDF.rest})


class Request(Value):
    """The options for a document; None means the default of the configuration.

    Attributes:
        pass_through: Whether classes and attributes without a configuration are published unchanged; by default,
            attributes are and classes are refused.
    """

    buckets: Any = None
    pass_through: bool | None = None
    seed: int | None = None


def anonymize_document(
    document: Any, configuration: Graph | ClassConfigurations, request: Request, load: ContextLoader = refuse
) -> Anonymized:
    """Anonymize a JSON-LD document by a configuration graph, or by the classes read from one.

    Raises:
        PlanError: The document is not JSON-LD, or a node's class is not configured.
        DataError: A value does not fit its operation, or an attribute has several values on one node.
        InternalError: The response would contain a value that no operation returned.
    """
    graph = parse_document(document, BASE, load)
    named = has_named_graphs(with_contexts(document, load))
    order = dict(order_of(graph))
    declared = configuration if isinstance(configuration, ClassConfigurations) else read_classes(configuration)
    classes = [document_class(declared, iri, request.buckets) for iri in declared.data_classes()]
    places = _places(graph, classes)
    if named and not all(isinstance(value, Literal) for _, _, value in places.changed):
        raise PlanError("graph-as-value.document_names_its_graphs")
    hidden = hidden_nodes(places)
    if not request.pass_through:
        _check_types(places, hidden, declared.attributes.keys())
    passed = _passed(places, hidden, declared.attributes.keys(), request.pass_through)
    _check_alike(places, hidden, declared)
    _check_names(graph, classes)
    answers, published = _anonymized(graph, classes, hidden, request.seed)
    for statement in places.changed:
        graph.remove(statement)
    for node in hidden:
        graph.remove((node, None, None))
    _check_nothing_left(graph, classes)
    kpis = _joined(answers)
    warnings = _warnings(answers, passed, len(places.members & hidden))
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


def _check_types(places: Places, hidden: set[Any], declared: Set[str]) -> None:
    """Check that every node belongs to a configured class, or is a removed value without a foreign class."""
    typed = {node for node, name, kind in places.statements if name == RDF.type and str(kind) not in declared}
    nodes = {subject for subject, _, _ in places.statements}
    foreign = len(nodes - places.members - (hidden - typed))
    if foreign:
        raise PlanError("unknown-class", foreign=foreign)


def _passed(places: Places, hidden: set[Any], declared: Set[str], pass_through: bool | None) -> tuple[str, ...]:
    """Return the names of the unchanged attributes of remaining nodes, and their further classes.

    The name of such a class may be personal and is not included.
    """
    kept = [one for one in places.statements - places.changed if one[0] not in hidden]
    names = {local_name(predicate) for _, predicate, _ in kept if predicate not in FRAME}
    typed = any(name == RDF.type and str(kind) not in declared for _, name, kind in kept)
    passed = tuple(sorted(names | ({"@type"} if typed else set())))
    if pass_through is False:
        check_passed(passed, False)
    return passed


def _check_alike(places: Places, hidden: set[Any], declared: ClassConfigurations) -> None:
    """Check that no remaining attribute looks like a changed one, such as http://… for a configured https://…."""
    attributes = [attribute for entries in declared.attributes.values() for attribute in entries]
    known = {attribute.iri for attribute in attributes}
    stays = {str(predicate) for node, predicate, _ in places.statements - places.changed if node not in hidden}
    check_alike(sorted(stays - known), [attribute.iri for attribute in attributes if attribute.classification])


def _warnings(answers: list[Anonymized], passed: tuple[str, ...], removed: int) -> tuple[Message, ...]:
    warnings = [warning for answer in answers for warning in answer.warnings]
    if removed:
        warnings.append(Message("note.removed_nodes", count=removed))
    return tuple(dict.fromkeys((*warnings, *passed_warning(passed))))


def _check_names(graph: Graph, classes: list[DocumentClass]) -> None:
    """Check that no value of the document has a name under which an operation publishes its result."""
    for one in classes:
        for address in one.new_names():
            if (None, address, None) in graph:
                raise PlanError("name-taken.document_already_attribute", local_name=local_name(address))


def _anonymized(
    graph: Graph, classes: list[DocumentClass], hidden: set[Any], seed: int | None
) -> tuple[list[Anonymized], set[Statement]]:
    """Return the result of each class that has nodes, and all statements of it; the graph is unchanged."""
    answers: list[Anonymized] = []
    published: set[Statement] = set()
    for one in classes:
        nodes = [node for node in one.nodes(graph) if node not in hidden]
        if nodes:
            answers.append(anonymize_records(one.records(graph, nodes), one.configuration, seed))
            published |= set(one.statements(nodes, answers[-1]))
    if not answers:
        raise DataError("empty.no_node_document_belongs")
    return answers, published


def _check_nothing_left(graph: Graph, classes: list[DocumentClass]) -> None:
    """Check that no configured attribute remains unchanged on a node of another class."""
    for one in classes:
        for rule in one.configuration.rules:
            left = set(graph.objects(None, URIRef(one.addresses[rule.attribute]))) - {Literal("*****")}
            if left:
                raise PlanError("attribute-elsewhere", attribute=rule.attribute).about(column=rule.attribute)


def _joined(answers: list[Anonymized]) -> dict[str, int]:
    joined = {name: number for answer in answers for name, number in answer.kpis.items()}
    return joined | {"kAnonymity": min(answer.kpis["kAnonymity"] for answer in answers)}


def _figures(kpis: dict[str, int], warnings: tuple[str, ...]) -> Iterator[Statement]:
    """Yield the metrics and warnings as statements about a separate node."""
    node = URIRef(SOYA + "kpiObject")
    for name, number in kpis.items():
        yield node, URIRef(SOYA + name), Literal(number)
    for warning in warnings:
        yield node, URIRef(SOYA + "warning"), Literal(warning)


def _extended(context: Any, classes: list[DocumentClass]) -> Any:
    """Return the context with a term for each new name whose old name had one."""
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


# Statements of a graph that is the value of an attribute are not linked to that value: they would remain when the value
# is masked. Such graphs are refused, however they are written.
def has_named_graphs(document: Any) -> bool:
    """Return whether a document has named graphs.

    Raises:
        PlanError: A graph is used as a value, or a context renames the keyword for graphs.
    """
    if isinstance(document, list):
        return sum(map(has_named_graphs, document)) > 0  # all are examined, because one may be refused
    if not isinstance(document, dict):
        return False
    for key, entry in document.items():
        if (_mentions if key == CONTEXT else _holds)(entry) and key != GRAPH:
            raise _refusal()
    inside = has_named_graphs(document[GRAPH]) if GRAPH in document else False
    return inside or (GRAPH in document and not document.keys() <= {CONTEXT, GRAPH})


def _holds(value: Any) -> bool:
    """Return whether a value contains a graph."""
    if isinstance(value, list):
        return any(map(_holds, value))
    if not isinstance(value, dict):
        return False
    return GRAPH in value or any((_mentions if key == CONTEXT else _holds)(entry) for key, entry in value.items())


def _mentions(context: Any) -> bool:
    """Return whether a context uses the keyword for graphs, as another name of it or as the type of a term."""
    if isinstance(context, dict):
        return any(map(_mentions, context.values()))
    return any(map(_mentions, context)) if isinstance(context, list) else context == GRAPH


def _refusal() -> PlanError:
    return PlanError("graph-as-value.document_graph_place_value")


# A node is a record of its own if every changed attribute that leads to it is its own: no other node refers to it, or
# its own values refer back. What such nodes reach without passing a changed attribute is visible; everything else is
# hidden, also nodes of configured classes. If two nodes refer to each other by changed attributes, neither can be
# identified as the record, so both are hidden.
def hidden_nodes(places: Places) -> set[Any]:
    """Return the nodes that are reachable only through changed attributes."""
    owners = _owners(places)
    onward = _values(places.statements - places.changed)
    nodes = {subject for subject, _, _ in places.statements}
    hidden = set(nodes)
    waiting = [node for node in nodes if owners.get(node, node) == node]
    while waiting:
        node = waiting.pop()
        if node in hidden:
            hidden.remove(node)
            waiting += onward.get(node, ())
    return hidden


def _owners(places: Places) -> dict[Any, Any]:
    """Return, for each node reachable by changed attributes, the node that owns all of these, or SEVERAL."""
    onward = _values(places.statements)
    owners: dict[Any, Any] = {}
    waiting = [(value, subject) for subject, _, value in places.changed if value in onward]
    while waiting:
        node, owner = waiting.pop()
        former = owners.get(node, owner)
        owner = owner if former == owner else SEVERAL
        if owners.get(node) != owner:
            owners[node] = owner
            waiting += [(value, owner) for value in onward[node] if value in onward]
    return owners


def _values(statements: Iterable[Statement]) -> dict[Any, list[Any]]:
    values: dict[Any, list[Any]] = {}
    for subject, _, value in statements:
        values.setdefault(subject, []).append(value)
    return values
