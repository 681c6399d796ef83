"""What the attribute endpoints do with a body, in a thread of its own: read, check, anonymize, write."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sfumato.attributes.anonymize import Anonymized, anonymize_records
from sfumato.attributes.configuration import Configuration, check_allowed, inline
from sfumato.attributes.knowledge_graph.documents import Request as DocumentRequest
from sfumato.attributes.knowledge_graph.documents import anonymize_document
from sfumato.attributes.sources import Sources
from sfumato.service.attributes.schemas import AnonymizeRequest, FlatRequest, GraphRequest, checked
from sfumato.service.http.bodies import parsed
from sfumato.service.http.problems import API_VERSION, RefusedError, encoded
from sfumato.service.http.settings import Limits


@dataclass(frozen=True, slots=True)
class Done:
    """An answer's body, and how many records it is about."""

    body: bytes
    records: int


@dataclass(frozen=True, slots=True)
class Work:
    """The work of the attribute endpoints."""

    sources: Sources
    limits: Limits

    def anonymize(self, body: bytes) -> Done:
        """Records with a configuration at an address or in the request."""
        request = checked(AnonymizeRequest, parsed(body, self.limits))
        self._check_number(request.data)
        configuration = self._configuration(request).asked(request.buckets, request.passThrough)
        answer = anonymize_records(request.data, configuration, request.seed)
        content = {"version": API_VERSION, "valid": True, "anonymisedData": answer.data}
        return _done(content | _figures(answer), len(request.data))

    def flat(self, body: bytes) -> Done:
        """Flat records; the answer names each operation."""
        request = checked(FlatRequest, parsed(body, self.limits))
        self._check_number(request.data)
        found = self.sources.configuration(request.address(), request.dataClass, request.prefix or "")
        configuration = found.asked(request.buckets, request.passThrough, "graph")
        answer = anonymize_records(request.data, configuration, request.seed)
        return _done({"data": answer.data} | _figures(answer), len(request.data))

    def graph(self, body: bytes) -> Done:
        """A JSON-LD document; the answer is one as well."""
        request = checked(GraphRequest, parsed(body, self.limits))
        nodes = _objects(request.data)
        if nodes > self.limits.nodes:
            what = f"The document has more than {self.limits.nodes} objects."
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "limit.nodes", what)
        asked = DocumentRequest(request.buckets, bool(request.passThrough), request.seed)
        graph = self.sources.graph(request.address())
        answer = anonymize_document(request.data, graph, asked, self.sources.load_context)
        return _done(answer.data, nodes)

    def _configuration(self, request: AnonymizeRequest) -> Configuration:
        address = request.address()
        ontology = self.sources.ontology(request.ontology) if request.ontology else None
        if address:
            found = self.sources.configuration(address, request.dataClass)
        else:
            entries = {
                name: entry.model_dump(exclude_none=True) for name, entry in (request.configuration or {}).items()
            }
            found = inline(entries, ontology.objects if ontology else ())
        if ontology:
            check_allowed(found, ontology.allowed)
        return found

    def _check_number(self, records: list[Any]) -> None:
        if len(records) > self.limits.records:
            what = f"There are more than {self.limits.records} records."
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "limit.records", what)


Job = Callable[[bytes], Done]


def _objects(document: Any) -> int:
    """How many objects a document holds, at whatever depth."""
    if isinstance(document, list):
        return sum(map(_objects, document))
    return 1 + sum(map(_objects, document.values())) if isinstance(document, dict) else 0


def _figures(answer: Anonymized) -> dict[str, Any]:
    return {"kpis": answer.kpis} | ({"warnings": list(answer.warnings)} if answer.warnings else {})


def _done(content: Any, records: int) -> Done:
    try:
        return Done(encoded(content), records)
    except ValueError:
        what = "A number of the data is too large to be written."
        raise RefusedError(HTTPStatus.BAD_REQUEST, "data.infinite", what) from None
