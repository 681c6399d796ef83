"""Replace the addresses of JSON-LD contexts by their content before a document is read; bundled contexts come first.

Nothing is fetched here: an address outside the bundled set goes to the loader that the caller allows, or is refused.
"""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from sfumato.errors import PlanError

ContextLoader = Callable[[str], Any]
# Address of a context -> its bundled file.
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
    raise PlanError("context.the_document_names_a")


def with_contexts(document: Any, load: ContextLoader = refuse) -> Any:
    """Return the document with every remote context inlined.

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
