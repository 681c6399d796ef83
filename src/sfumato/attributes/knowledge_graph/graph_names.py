"""Graphs inside a JSON-LD document: which are read, and whether any of them has a name.

Statements of a graph that is the value of an attribute are not linked to that value: they would remain when the value
is masked. Such graphs are refused, however they are written.
"""

from typing import Any

from sfumato.errors import PlanError

GRAPH, CONTEXT, ID = "@graph", "@context", "@id"


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
    what = "the document has a graph in the place of a value."
    return PlanError(what, "Write its nodes into the value itself, or next to the other nodes.", "graph-as-value")
