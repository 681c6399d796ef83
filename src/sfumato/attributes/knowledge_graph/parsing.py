"""Parse JSON-LD and Turtle into RDF graphs that keep the order of the document; JSON-LD contexts are inlined first."""

import json
import logging
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sfumato.errors import PlanError, extra_part

if TYPE_CHECKING:
    from rdflib import Graph


ContextLoader = Callable[[str], Any]
# Bundled JSON-LD contexts: address and file.
BUNDLED = {
    "https://ns.ownyourdata.eu/ns/soya-context.json": "soya.json",
    "https://w3id.org/soya/context.json": "soya.json",
    "https://schema.org": "schema_org.json",
    "https://schema.org/": "schema_org.json",
    "http://schema.org": "schema_org.json",
    "http://schema.org/": "schema_org.json",
}
DEEPEST = 64
MOST_CONTEXTS = 32


def refuse(address: str) -> Any:  # noqa: ARG001
    """Refuse to load any context."""
    raise PlanError("context.not_allowed")


def with_contexts(document: Any, load: ContextLoader = refuse) -> Any:
    """Return the document with every remote context inlined.

    This function fetches nothing itself: for an address without a bundled context it calls `load`, which by default
    refuses.

    >>> with_contexts({"@context": {"a": "http://example.org/a"}, "a": 1})
    {'@context': {'a': 'http://example.org/a'}, 'a': 1}

    Raises:
        PlanError: A context may not be loaded or is invalid, or the document is nested too deeply.
    """
    return _Inliner(load).walk(document, 0)


class _Inliner:
    def __init__(self, load: ContextLoader) -> None:
        self._load = load
        self._loaded = 0

    def walk(self, value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise PlanError("depth", count=DEEPEST)
        if isinstance(value, list):
            return [self.walk(entry, depth + 1) for entry in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self.context(entry, depth + 1) if key == "@context" else self.walk(entry, depth + 1)
            for key, entry in value.items()
        }

    def context(self, value: Any, depth: int) -> Any:
        """Return a context with its addresses resolved: an address, a definition, or a list of both."""
        if isinstance(value, str):
            return self._fetched(value, depth)
        if isinstance(value, list):
            return [self.context(entry, depth + 1) for entry in value]
        if isinstance(value, dict) and "@import" in value:
            return self._imported(value, depth)
        return self.walk(value, depth)

    def _imported(self, value: dict[str, Any], depth: int) -> Any:
        base = self._fetched(str(value["@import"]), depth)
        if not isinstance(base, dict):
            raise PlanError("context.an_imported_json_ld")
        own = {key: entry for key, entry in value.items() if key != "@import"}
        return {**base, **self.walk(own, depth + 1)}

    def _fetched(self, address: str, depth: int) -> Any:
        self._loaded += 1
        if self._loaded > MOST_CONTEXTS:
            raise PlanError("context.the_document_names_too")
        loaded = bundled_context(BUNDLED[address]) if address in BUNDLED else self._load(address)
        if not isinstance(loaded, dict) or "@context" not in loaded:
            raise PlanError("context.what_a_json_ld")
        return self.context(loaded["@context"], depth + 1)


@cache
def bundled_context(name: str) -> Any:
    """Return a bundled context."""
    return json.loads(files("sfumato.attributes").joinpath("contexts", name).read_text(encoding="utf-8"))


BASE = "https://sfumato.example/"
TURTLE = frozenset({"text/turtle", "application/x-turtle", "application/turtle"})
# Maximum number of words in a text; an attribute needs about ten statements, and more text only causes load.
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
        raise PlanError("json-ld.no_object_and_no_list")
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
    """Return the position of each subject in the document; an attribute counts from its `rdfs:domain` statement."""
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
        """A store that records the position of each subject; an attribute counts from its `rdfs:domain` statement."""

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


SOYA = "https://w3id.org/soya/ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREFIXES = f"PREFIX rdfs: <{RDFS}> PREFIX owl: <{OWL}> PREFIX rdf: <{RDF}> PREFIX soya: <{SOYA}> "


def local_name(iri: str) -> str:
    """Return the last part of an address.

    >>> local_name("https://w3id.org/soya/ns#masking"), local_name("https://example.org/a/Stra%C3%9Fe")
    ('masking', 'Straße')
    """
    trimmed = iri.rstrip("/#")
    for mark in "#/":
        if mark in trimmed:
            trimmed = trimmed.rsplit(mark, 1)[1]
            break
    return unquote(trimmed)
