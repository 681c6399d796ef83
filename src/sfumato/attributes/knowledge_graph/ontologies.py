"""Operations that an ontology allows for each attribute.

An attribute's class has `owl:equivalentClass` → `owl:Restriction` on `anonymizationType` → `owl:someValuesFrom` →
`owl:oneOf`. The property is recognized by the last part of its IRI, because ontologies use namespaces of their own.
"""

from typing import TYPE_CHECKING

from sfumato.attributes.knowledge_graph.namespaces import PREFIXES, local_name
from sfumato.attributes.knowledge_graph.parsing import select
from sfumato.attributes.operations.operation import normalize
from sfumato.errors import PlanError

if TYPE_CHECKING:
    from rdflib import Graph

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
