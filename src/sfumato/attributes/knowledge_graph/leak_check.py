"""Check an anonymized knowledge graph before it is sent: no original statement of a changed attribute may remain.

Each RDF statement (node, attribute, value) of the response must be one of two: a statement of the original document
whose attribute is not changed, or the result of an operation for the same node and attribute. Equal values at other
positions are permitted; a value at a wrong position is an error, even if it looks harmless. The check shares no code
with the removal of original values.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from rdflib import Literal, URIRef

from sfumato.attributes.knowledge_graph.parsing import BASE, parse_document
from sfumato.errors import InternalError
from sfumato.values import Value

Statement = tuple[Any, Any, Any]
Signature = tuple[str, str, str]
BLANK = "_:"


class Places(Value):
    """The statements of the original document.

    Attributes:
        changed: The statements whose value an operation replaces.
        members: The nodes that belong to configured classes.
    """

    statements: Set[Statement]
    changed: Set[Statement]
    members: Set[Any]

    def kept(self) -> Iterator[Statement]:
        """Yield the statements that may remain: those on nodes that can be reached without a changed attribute."""
        onward: dict[Any, list[Any]] = {}
        for subject, _, value in self.statements - self.changed:
            onward.setdefault(subject, []).append(value)
        behind = _reached({value for _, _, value in self.changed}, onward)
        visible = _reached(onward.keys() - behind, onward)
        visible |= _reached(self._named_by_themselves(visible), onward)
        return (one for one in self.statements - self.changed if one[0] in visible)

    def _named_by_themselves(self, visible: Set[Any]) -> Iterator[Any]:
        """Yield the nodes reachable only through their own changed attributes, whose values refer back to them."""
        named_by: dict[Any, list[Any]] = {}
        for subject, _, value in self.statements:
            named_by.setdefault(value, []).append(subject)
        holders: dict[Any, set[Any]] = {}
        for subject, _, value in self.changed:
            holders.setdefault(value, set()).add(subject)
        owners = {subject for subject, _, value in self.changed if not isinstance(value, Literal)}
        for node in owners - visible:
            if all(holders.get(before, set()) <= {node} for before in _walked([node], named_by)):
                yield node


def _reached(start: Iterable[Any], onward: Mapping[Any, list[Any]]) -> set[Any]:
    return set(_walked(start, onward))


def _walked(start: Iterable[Any], onward: Mapping[Any, list[Any]]) -> Iterator[Any]:
    """Yield the nodes reachable from the start nodes, lazily."""
    reached, waiting = set(), list(start)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            yield node
            waiting += onward.get(node, ())


def check_places(document: Any, places: Places, published: Iterable[Statement]) -> None:
    """Check the document before it is sent.

    Args:
        document: The response, in JSON-LD without remote contexts.
        places: The original document.
        published: The results of the operations, and the metrics.

    Raises:
        InternalError: The document contains a forbidden value, or one that the operation did not return.
    """
    there = _signatures(parse_document(document, BASE))
    returned = _signatures(published)
    if there - (returned + _signatures(places.kept())) or returned - there:
        raise InternalError("places.document")


def _signatures(statements: Iterable[Statement]) -> Counter[Signature]:
    """Count the statements; nodes without a name count as equal, because they get new labels when written."""
    return Counter((_name(subject), str(predicate), _name(value)) for subject, predicate, value in statements)


def _name(node: Any) -> str:
    """Return the name of a node for comparison; numbers are compared by value, because spellings differ."""
    if not isinstance(node, Literal):
        return str(node) if isinstance(node, URIRef) else BLANK
    value = node.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f'"{value}' if isinstance(value, int | float) else f'"{node}'
