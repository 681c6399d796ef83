"""The configuration that a knowledge graph holds, extracted with SPARQL.

An attribute's `rdfs:domain` is its class, `rdfs:range` its data type and `soya:classification` its operation; a class
that is itself a range is an object type, whose attributes, in the document's order, are its levels.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.attributes.configuration import Configuration, Rule, known_name
from sfumato.attributes.datatypes import DataType, of_range
from sfumato.attributes.knowledge_graph.names import PREFIXES, local_name
from sfumato.attributes.knowledge_graph.parsing import order_of
from sfumato.errors import Fault, PlanError, did_you_mean

if TYPE_CHECKING:
    from rdflib import Graph

ATTRIBUTES = (
    PREFIXES
    + """SELECT ?attribute ?range ?classification WHERE {
  ?attribute rdfs:domain ?class .
  OPTIONAL { ?attribute rdfs:range ?range } OPTIONAL { ?attribute soya:classification ?classification } }"""
)
CLASSES = PREFIXES + "SELECT DISTINCT ?class WHERE { ?attribute rdfs:domain ?class }"
DATA_CLASSES = (
    PREFIXES
    + """SELECT DISTINCT ?class WHERE {
  ?attribute rdfs:domain ?class ; soya:classification ?classification .
  FILTER NOT EXISTS { ?other rdfs:range ?class ; rdfs:domain ?holder . FILTER(?holder != ?class) } }"""
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a class, as the graph describes it."""

    iri: str
    range: str
    classification: str

    @property
    def name(self) -> str:
        return local_name(self.iri)


def configuration_of(
    graph: "Graph", data_class: str | None = None, address: str = "", prefix: str = ""
) -> Configuration:
    """The configuration for records of one class.

    Args:
        graph: The configuration graph.
        data_class: Name or address of the class; when not given it is the one that the address's last part names, or
            the only one that is no part of another.
        address: Where the graph came from.
        prefix: When given, only attributes whose address starts with it belong to the records.

    Raises:
        PlanError: The class is not there or not clear, or an attribute's description contradicts itself.
    """
    return rules_of(graph, find_class(graph, data_class, address), prefix)


def rules_of(graph: "Graph", data_class: str, prefix: str = "") -> Configuration:
    """The configuration for one class, by its address."""
    found = [attribute for attribute in attributes_of(graph, data_class) if attribute.iri.startswith(prefix)]
    faults = [fault for attribute in found for fault in _faults(attribute)]
    names = [attribute.name for attribute in found]
    faults += [Fault(name, "two attributes have this name.") for name in {*names} if names.count(name) > 1]
    if faults:
        raise PlanError(faults, code="configuration")
    rules = [_rule(graph, attribute) for attribute in found if attribute.classification]
    if not rules:
        raise PlanError("the configuration has no operation for any attribute.", "Check class and prefix.", "no-rules")
    return Configuration(tuple(rules), form="range", buckets="unique99", pass_through=True)


def find_class(graph: "Graph", data_class: str | None, address: str) -> str:
    """The address of the class that the records belong to."""
    classes = [str(row[0]) for row in graph.query(CLASSES)]
    if data_class:
        return _named(data_class, classes)
    candidates = data_classes(graph)
    fitting = [iri for iri in candidates if local_name(iri) == local_name(address)]
    chosen = fitting or candidates
    if len(chosen) != 1:
        names = ", ".join(sorted(local_name(iri) for iri in chosen))
        what = f"the configuration has several data classes: {names}." if chosen else "it configures no attribute."
        raise PlanError(what, "Name one as dataClass." if chosen else "", "data-class")
    return chosen[0]


def data_classes(graph: "Graph") -> list[str]:
    """The classes whose attributes are configured and that are no part of another."""
    return [str(row[0]) for row in graph.query(DATA_CLASSES)]


def _named(name: str, classes: list[str]) -> str:
    found = [iri for iri in classes if name in (iri, local_name(iri))]
    if len(found) != 1:
        hint = did_you_mean(name, {local_name(iri) for iri in classes})
        raise PlanError("the configuration has no such data class, or more than one.", hint, "data-class")
    return found[0]


def attributes_of(graph: "Graph", data_class: str) -> list[Attribute]:
    """The attributes of a class in the document's order.

    Raises:
        PlanError: An attribute has two types or two operations.
    """
    from rdflib import URIRef

    found: dict[Any, Attribute] = {}
    for iri, kind, classification in graph.query(ATTRIBUTES, initBindings={"class": URIRef(data_class)}):
        attribute = Attribute(str(iri), str(kind or ""), str(classification or ""))
        if found.setdefault(iri, attribute) != attribute:
            what = "has more than one data type or operation."
            raise PlanError([Fault(attribute.name, what)], code="configuration")
    order = order_of(graph)
    return [found[iri] for iri in sorted(found, key=lambda iri: order[iri])]


def _faults(attribute: Attribute) -> list[Fault]:
    if not attribute.classification:
        return []
    faults = []
    name = local_name(attribute.classification)
    if known_name(name) is None:
        faults.append(Fault(attribute.name, f"{name} is not an operation."))
    if not attribute.range:
        faults.append(Fault(attribute.name, "the data type (rdfs:range) is missing."))
    return faults


def _rule(graph: "Graph", attribute: Attribute) -> Rule:
    operation = known_name(local_name(attribute.classification)) or ""
    levels = tuple(level.name for level in attributes_of(graph, attribute.range))
    return Rule(attribute.name, operation, of_range(attribute.range, levels))


def object_types(graph: "Graph") -> tuple[DataType, ...]:
    """Every class of the graph that has attributes, as an object type."""
    classes = [str(row[0]) for row in graph.query(CLASSES)]
    return tuple(of_range(iri, tuple(level.name for level in attributes_of(graph, iri))) for iri in classes)
