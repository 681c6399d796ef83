"""Parse JSON-LD and Turtle into graphs that keep the order in which the document lists its attributes."""

import json
import logging
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.attributes.remote.contexts import ContextLoader, refuse, with_contexts
from sfumato.errors import PlanError, extra_part

if TYPE_CHECKING:
    from rdflib import Graph

BASE = "https://sfumato.example/"
TURTLE = frozenset({"text/turtle", "application/x-turtle", "application/turtle"})
# An attribute takes ten statements; a text with many more only causes load.
MOST_WORDS = 30_000
WORD = re.compile(r"[^\s,;()\[\]]+|[,;()\[\]]")
DOMAIN = "http://www.w3.org/2000/01/rdf-schema#domain"


def parse(
    text: str, media_type: str = "application/ld+json", base: str = BASE, load: ContextLoader = refuse
) -> "Graph":
    """Parse a text into a graph.

    Raises:
        PlanError: The text does not match its media type, or contains no statement.
    """
    if media_type in TURTLE:
        return parse_turtle(text, base)
    return parse_document(_json(text), base, load)


def parse_turtle(text: str, base: str) -> "Graph":
    """Parse a Turtle text into a graph."""
    if sum(1 for _ in WORD.finditer(text)) > MOST_WORDS:
        raise PlanError("graph-too-large")
    graph = new_graph()
    try:
        graph.parse(data=text, format="turtle", publicID=base)
    except Exception:  # rdflib raises many types; their messages may quote the document
        raise PlanError("turtle") from None
    return _checked(graph, "Turtle")


def parse_document(document: Any, base: str = BASE, load: ContextLoader = refuse) -> "Graph":
    """Parse a JSON-LD document into a graph."""
    if not isinstance(document, dict | list):
        raise PlanError("json-ld.the_document_is_not")
    graph = new_graph()
    inlined = with_contexts(document, load)
    try:
        from rdflib.plugins.parsers.jsonld import to_rdf

        to_rdf(inlined, graph, base)  # directly into one graph, so that the content of named graphs is not lost
    except Exception:
        raise PlanError("json-ld.the_document_is_not_valid_json") from None
    return _checked(graph, "JSON-LD")


def new_graph() -> "Graph":
    """Return an empty graph that remembers the order of its attributes."""
    graph_class, store_class = _classes()
    graph: Graph = graph_class(store=store_class())
    return graph


def order_of(graph: "Graph") -> dict[Any, int]:
    """Return the position of each subject in the document; for an attribute, the position of its class."""
    order: dict[Any, int] = graph.store.places
    return order


def select(graph: "Graph", query: str) -> Iterable[Any]:
    """Return the results of a SPARQL query."""
    rows: Iterable[Any] = graph.query(_prepared(query))
    return rows


@cache
def _prepared(query: str) -> Any:
    from rdflib.plugins.sparql import prepareQuery

    return prepareQuery(query)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise PlanError("json-ld.the_document_is_not_valid_json_ld") from None


def _checked(graph: "Graph", name: str) -> "Graph":
    if not len(graph):
        raise PlanError("no-statements", name=name)
    return graph


@cache
def _classes() -> tuple[Any, Any]:
    with extra_part("rdflib", "graph"):
        from rdflib import Graph
        from rdflib.plugins.stores.memory import Memory
    # rdflib logs the values that it cannot convert; they may be personal.
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)

    class OrderedStore(Memory):  # type: ignore[misc]
        """A store that records the position of each subject, for an attribute that of its class."""

        def __init__(self) -> None:
            super().__init__()
            self.places: dict[Any, int] = {}
            self._named: set[Any] = set()

        def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
            subject, predicate, _ = triple
            if subject not in self.places or (str(predicate) == DOMAIN and subject not in self._named):
                self.places[subject] = len(self.places) + len(self._named)
            if str(predicate) == DOMAIN:
                self._named.add(subject)
            super().add(triple, context, quoted)

    return Graph, OrderedStore
