"""Load configurations and ontologies from a web address, a folder of the service, or the bundled examples."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sfumato.attributes.configuration import Configuration
from sfumato.attributes.fetching import Document, Fetcher
from sfumato.attributes.knowledge_graph import configurations, parsing
from sfumato.attributes.knowledge_graph.parsing import refuse
from sfumato.attributes.operations.operation import DataType
from sfumato.errors import PlanError
from sfumato.values import Value, replace

if TYPE_CHECKING:
    from rdflib import Graph

LARGEST_FILE = 10_000_000
MOST_KEPT = 64
MOST_STATEMENTS = 8_000
TURTLE_SUFFIXES = frozenset({".ttl", ".turtle"})


class Ontology(Value):
    """The content of an ontology: the allowed operations of each attribute, and its object types."""

    allowed: Mapping[str, frozenset[str]]
    objects: tuple[DataType, ...]


class Sources:
    """Finds configurations and ontologies, and caches the result of reading them."""

    def __init__(self, fetcher: Fetcher, ontologies_folder: Path | None = None) -> None:
        self.fetcher = fetcher
        self._folders = [folder for folder in (ontologies_folder,) if folder]
        self._configuration = lru_cache(maxsize=256)(self._read_configuration)
        self._classes = lru_cache(maxsize=MOST_KEPT)(self._read_classes)
        self._ontology = lru_cache(maxsize=MOST_KEPT)(self._read_ontology)
        self._graph = lru_cache(maxsize=32)(self._read_graph)
        self._read: OrderedDict[tuple[str, Document], None] = OrderedDict()

    def configuration(self, address: str, data_class: str | None = None, prefix: str = "") -> Configuration:
        """Return the configuration at an address."""
        return self._configuration(self.fetcher.fetch(address), data_class, prefix)

    def configuration_of(self, document: Document, data_class: str | None = None) -> Configuration:
        """Return the configuration in a document."""
        return self._configuration(document, data_class, "")

    def classes(self, address: str) -> configurations.ClassConfigurations:
        """Return the configured classes of the graph at an address."""
        return self._classes(_plain(self.fetcher.fetch(address)))

    def at_hand(self, address: str, ontology: bool = False) -> bool:
        """Return whether the document at an address was fetched and read before."""
        document = self.fetcher.kept(address)
        return document is not None and ("ontology" if ontology else "classes", _plain(document)) in self._read

    def ontology(self, name: str) -> Ontology:
        """Return an ontology by its address or by the name under which it is hosted."""
        document = self.fetcher.fetch(name) if "://" in name else self._hosted(name)
        return self._ontology(_plain(document))

    def load_context(self, address: str) -> Any:
        """Return a JSON-LD context of an allowed host; any other is refused."""
        if not self.fetcher.allows(address):
            return refuse(address)
        try:
            return json.loads(self.fetcher.fetch(address).text)
        except (ValueError, RecursionError):
            raise PlanError("context.what_a_json_ld_context") from None

    def _read_graph(self, document: Document) -> "Graph":
        graph = parsing.parse(document.text, _media_type(document), document.address, self.load_context)
        if len(graph) > MOST_STATEMENTS:
            raise PlanError("graph-too-large")
        return graph

    def _read_configuration(self, document: Document, data_class: str | None, prefix: str) -> Configuration:
        classes = self._classes(_plain(document))
        return configurations.rules_of(
            classes, configurations.find_class(classes, data_class, document.address), prefix
        )

    def _read_classes(self, document: Document) -> configurations.ClassConfigurations:
        classes = configurations.read_classes(self._graph(document))
        self._note("classes", document)
        return classes

    def _read_ontology(self, document: Document) -> Ontology:
        graph = self._graph(document)
        ontology = Ontology(configurations.allowed_operations(graph), configurations.read_classes(graph).object_types())
        self._note("ontology", document)
        return ontology

    def _note(self, kind: str, document: Document) -> None:
        """Record what was read; fewer entries are recorded than cached, so that all recorded ones are cached."""
        self._read[kind, document] = None
        while len(self._read) > MOST_KEPT:
            self._read.popitem(last=False)

    def _hosted(self, name: str) -> Document:
        with as_file(files("sfumato.attributes").joinpath("ontologies")) as bundled:
            for folder in (*self._folders, bundled):
                path = inside(folder, name)
                if path:
                    return read_file(path)
        raise PlanError("ontology-name")


def _plain(document: Document) -> Document:
    """Return a document without the query of its address, so that the same text is read and cached once."""
    address = urlsplit(document.address)
    if not address.query and not address.fragment:
        return document
    return replace(document, address=address._replace(query="", fragment="").geturl())


def _media_type(document: Document) -> str:
    """Return the media type given by the server or, if that is not usable, by the extension of the address."""
    ending = Path(urlsplit(document.address).path).suffix.lower()
    unsaid = document.media_type in ("application/octet-stream", "text/plain")
    return "text/turtle" if unsaid and ending in TURTLE_SUFFIXES else document.media_type


def inside(folder: Path, name: str) -> Path | None:
    """Return the file of a name in a folder, or None if there is none or the name leads out of the folder."""
    if not name or "\0" in name or "\\" in name:
        return None
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None
    except OSError:
        return None


def read_file(path: Path) -> Document:
    """Read a graph file as a document.

    Raises:
        PlanError: The file cannot be read, is too large, or is not UTF-8.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise PlanError("too-large", name=path.name, count=LARGEST_FILE)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PlanError("unreadable.cannot_read", problem=error.strerror, name=path.name) from None
    except UnicodeDecodeError:
        raise PlanError("encoding.not_utf8", name=path.name) from None
    media_type = "text/turtle" if path.suffix.lower() in TURTLE_SUFFIXES else "application/ld+json"
    return Document(parsing.BASE + path.stem, media_type, text)
