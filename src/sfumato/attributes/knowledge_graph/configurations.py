"""Configurations in a knowledge graph, extracted with SPARQL, and the operations that an ontology allows."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.attributes.configuration import AttributeRule, Configuration, known_name
from sfumato.attributes.knowledge_graph.parsing import PREFIXES, local_name, order_of, select
from sfumato.attributes.operations.operation import DataType, normalize, of_range
from sfumato.errors import PlanError, PlanIssue, did_you_mean, issue
from sfumato.values import Value

if TYPE_CHECKING:
    from rdflib import Graph


ATTRIBUTES = (
    PREFIXES
    + """SELECT ?class ?attribute ?range ?classification WHERE {
  ?attribute rdfs:domain ?class .
  OPTIONAL { ?attribute rdfs:range ?range } OPTIONAL { ?attribute soya:classification ?classification } }"""
)
MOST_CLASSES, MOST_ATTRIBUTES = 1_000, 5_000


class Attribute(Value):
    """An attribute of a class, as described by the graph."""

    iri: str
    range: str
    classification: str

    @property
    def name(self) -> str:
        return local_name(self.iri)


class ClassConfigurations(Value):
    """The classes of a graph by their addresses, each with its attributes in the document's order.

    In the graph, the `rdfs:domain` of an attribute is its class, `rdfs:range` its data type and `soya:classification`
    its operation. A class that is the range of an attribute is an object type: its attributes, in the order of the
    document, are the levels of generalization.
    """

    attributes: Mapping[str, tuple[Attribute, ...]]

    def data_classes(self) -> list[str]:
        """Return the classes with configured attributes that are not part of another class."""
        parts = {one.range for iri, entries in self.attributes.items() for one in entries if one.range != iri}
        configured = (iri for iri, entries in self.attributes.items() if any(one.classification for one in entries))
        return [iri for iri in configured if iri not in parts]

    def levels(self, iri: str) -> tuple[str, ...]:
        """Return the levels of an object type; empty for an address that is no class of the graph."""
        return tuple(attribute.name for attribute in self.attributes.get(iri, ()))

    def object_types(self) -> tuple[DataType, ...]:
        """Return every class as an object type."""
        return tuple(of_range(iri, self.levels(iri)) for iri in self.attributes)


def read_classes(graph: "Graph") -> ClassConfigurations:
    """Return the classes of a graph.

    Raises:
        PlanError: An attribute has two types or two operations, or the graph is too large.
    """
    classes: dict[str, dict[Any, Attribute]] = {}
    for number, (owner, iri, kind, classification) in enumerate(select(graph, ATTRIBUTES)):
        attribute = Attribute(str(iri), str(kind or ""), str(classification or ""))
        if classes.setdefault(str(owner), {}).setdefault(iri, attribute) != attribute:
            raise PlanError.listing([issue(attribute.name, "has_more_than_one")], "configuration")
        if number > MOST_ATTRIBUTES or len(classes) > MOST_CLASSES:
            raise PlanError("graph-too-large")
    order = order_of(graph)
    return ClassConfigurations(
        {
            owner: tuple(entries[iri] for iri in sorted(entries, key=lambda iri: order[iri]))
            for owner, entries in classes.items()
        }
    )


def configuration_of(
    graph: "Graph", data_class: str | None = None, address: str = "", prefix: str = ""
) -> Configuration:
    """Return the configuration for records of one class.

    Args:
        data_class: Name or address of the class; the default is the one named by the last part of the address, or
        the only one that is not part of another.
        address: Where the graph came from.
        prefix: If given, only attributes whose address starts with it belong to the records.

    Raises:
        PlanError: The class is missing or ambiguous, or the description of an attribute is contradictory.
    """
    classes = read_classes(graph)
    return rules_of(classes, find_class(classes, data_class, address), prefix)


def rules_of(classes: ClassConfigurations, data_class: str, prefix: str = "") -> Configuration:
    """Return the configuration for one class, by its address."""
    attributes = [attribute for attribute in classes.attributes[data_class] if attribute.iri.startswith(prefix)]
    faults = [fault for attribute in attributes for fault in _faults(attribute)]
    names = Counter(attribute.name for attribute in attributes)
    faults += [issue(name, "repeated_attribute") for name, count in names.items() if count > 1]
    if faults:
        raise PlanError.listing(faults, "configuration")
    rules = [_rule(classes, attribute) for attribute in attributes if attribute.classification]
    if not rules:
        raise PlanError("no-rules.no_operation")
    return Configuration(tuple(rules), form="range", buckets="unique99", pass_through=True)


def find_class(classes: ClassConfigurations, data_class: str | None, address: str) -> str:
    """Return the address of the class of the records."""
    if data_class:
        return _named(data_class, list(classes.attributes))
    candidates = classes.data_classes()
    fitting = [iri for iri in candidates if local_name(iri) == local_name(address)]
    chosen = fitting or candidates
    if len(chosen) != 1:
        names = ", ".join(sorted(local_name(iri) for iri in chosen))
        raise PlanError("data-class.several", names=names) if chosen else PlanError("data-class.no_attribute")
    return chosen[0]


def _named(name: str, classes: list[str]) -> str:
    matches = [iri for iri in classes if name in (iri, local_name(iri))]
    if len(matches) != 1:
        hint = did_you_mean(name, {local_name(iri) for iri in classes})
        raise PlanError("data-class.no_such_class", hint=hint)
    return matches[0]


def _faults(attribute: Attribute) -> list[PlanIssue]:
    if not attribute.classification:
        return []
    faults = []
    name = local_name(attribute.classification)
    if known_name(name) is None:
        faults.append(issue(attribute.name, "unknown_operation", name=name))
    if not attribute.range:
        faults.append(issue(attribute.name, "the_data_type_rdfs"))
    return faults


def _rule(classes: ClassConfigurations, attribute: Attribute) -> AttributeRule:
    operation = known_name(local_name(attribute.classification)) or ""
    return AttributeRule(attribute.name, operation, of_range(attribute.range, classes.levels(attribute.range)))


PROPERTY = "anonymizationType"
ALLOWED = (
    PREFIXES
    + """SELECT ?attribute ?property ?operation WHERE {
  ?attribute owl:equivalentClass ?restriction .
  ?restriction a owl:Restriction ; owl:onProperty ?property ;
    owl:someValuesFrom/owl:oneOf/rdf:rest*/rdf:first ?operation }"""
)


def allowed_operations(graph: "Graph") -> dict[str, frozenset[str]]:
    """Return the allowed operations of each attribute in an ontology.

    The path from the class of an attribute to the operations is `owl:equivalentClass`, an `owl:Restriction` on
    `anonymizationType`, `owl:someValuesFrom`, `owl:oneOf`. The property is recognized by the last part of its IRI,
    because ontologies use namespaces of their own.

    Raises:
        PlanError: The graph restricts no attribute, so it is not an ontology of operations.
    """
    operations_of: dict[str, set[str]] = {}
    for attribute, restricted, operation in select(graph, ALLOWED):
        if local_name(str(restricted)) == PROPERTY:
            operations_of.setdefault(local_name(str(attribute)), set()).add(normalize(local_name(str(operation))))
    if not operations_of:
        raise PlanError("ontology-empty")
    return {name: frozenset(operations) for name, operations in operations_of.items()}
