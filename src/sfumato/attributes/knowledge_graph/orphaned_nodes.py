"""Find the nodes of a document that are reachable only through changed attributes and are removed with them.

A node is a record of its own if every changed attribute that leads to it is its own: no other node refers to it, or its
own values refer back. What such nodes reach without passing a changed attribute is visible; everything else is hidden,
also nodes of configured classes. If two nodes refer to each other by changed attributes, neither can be identified as
the record, so both are hidden.
"""

from collections.abc import Iterable
from typing import Any

from sfumato.attributes.knowledge_graph.leak_check import Places, Statement

# The owner of a node to which changed attributes of several nodes lead.
SEVERAL = object()


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
