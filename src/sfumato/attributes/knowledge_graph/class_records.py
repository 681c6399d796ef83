"""The classes of a document: their nodes as records, and the results of operations as statements."""

from collections.abc import Iterator
from typing import Any

from rdflib import RDF, XSD, Graph, Literal, URIRef

from sfumato.attributes.anonymize import Anonymized
from sfumato.attributes.configuration import AttributeRule, Configuration
from sfumato.attributes.knowledge_graph.configurations import ClassConfigurations, rules_of
from sfumato.attributes.knowledge_graph.leak_check import Statement
from sfumato.attributes.knowledge_graph.namespaces import SOYA
from sfumato.attributes.knowledge_graph.parsing import order_of
from sfumato.attributes.operations.operation import find
from sfumato.dataclass import dataclass
from sfumato.errors import DataError

TYPES = {"numeric": "double", "integer": "integer", "date": "date", "datetime": "dateTime"}


@dataclass(frozen=True, slots=True)
class DocumentClass:
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
