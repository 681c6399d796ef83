"""What the endpoints do with a body, in a worker process: read, check, anonymize, write; also for ARXaaS clients."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sfumato.attributes.anonymize import Anonymized, anonymize_records
from sfumato.attributes.configuration import Configuration, check_allowed, inline
from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.knowledge_graph.documents import Request as DocumentRequest
from sfumato.attributes.knowledge_graph.documents import anonymize_document
from sfumato.attributes.operations.operation import DataType
from sfumato.attributes.sources import Sources
from sfumato.localization.messages import Message
from sfumato.pipelines.migration.arxaas import Attribute, Rows, analyzed, anonymized, model_of
from sfumato.pipelines.migration.arxaas_hierarchies import build
from sfumato.service.attributes.schemas import (
    AnalyzeBody,
    AnonymizeBody,
    AnonymizeRequest,
    Cell,
    FlatRequest,
    GraphRequest,
    HierarchyBody,
    Operation,
    validate,
)
from sfumato.service.problems import API_VERSION, RefusedError, to_json
from sfumato.service.request_bodies import parse_json
from sfumato.service.settings import Limits, Settings
from sfumato.service.workers.messages import TakesLongError
from sfumato.values import Value

# Number of configurations cached.
CONFIGURATIONS = 32


class EndpointResponse(Value):
    """The body of a response, and its number of records; without slots, because it is pickled for each request."""

    body: bytes
    records: int


class Endpoints(Value):
    """The attribute endpoints; those that are not patient refuse work that must fetch and parse something first."""

    sources: Sources
    limits: Limits
    patient: bool = True

    def anonymize(self, body: bytes) -> EndpointResponse:
        """Anonymize records with a configuration from an address or in the request."""
        request = validate(AnonymizeRequest, parse_json(body, self.limits))
        self._check_number(request.data)
        configuration = self._configuration(request).with_options(request.buckets, request.passThrough)
        answer = anonymize_records(request.data, configuration, request.seed)
        content = {"version": API_VERSION, "valid": True, "anonymisedData": answer.data}
        return _answer(content | _figures(answer, request.kpis), len(request.data))

    def flat(self, body: bytes) -> EndpointResponse:
        """Anonymize flat records; the response names each operation."""
        request = validate(FlatRequest, parse_json(body, self.limits))
        self._check_number(request.data)
        self._check_at_hand(request.address())
        declared = self.sources.configuration(request.address(), request.dataClass, request.prefix or "")
        configuration = declared.with_options(request.buckets, request.passThrough, "graph")
        answer = anonymize_records(request.data, configuration, request.seed)
        return _answer({"data": answer.data} | _figures(answer), len(request.data))

    def graph(self, body: bytes) -> EndpointResponse:
        """Anonymize a JSON-LD document; the response is one, too."""
        request = validate(GraphRequest, parse_json(body, self.limits))
        nodes = _objects(request.data)
        if nodes > self.limits.nodes:
            raise RefusedError("limit.nodes", Message("request.nodes", most=self.limits.nodes))
        options = DocumentRequest(request.buckets, request.passThrough, request.seed)
        self._check_at_hand(request.address())
        classes = self.sources.classes(request.address())
        answer = anonymize_document(request.data, classes, options, self.sources.load_context)
        return _answer(answer.data, nodes)

    def _configuration(self, request: AnonymizeRequest) -> Configuration:
        address = request.address()
        self._check_at_hand(address, request.ontology)
        ontology = self.sources.ontology(request.ontology) if request.ontology else None
        if address:
            configuration = self.sources.configuration(address, request.dataClass)
        else:
            self._check_number([request.configuration or {}])
            configuration = _inline(json.dumps(request.configuration), ontology.objects if ontology else ())
        if ontology:
            check_allowed(configuration, ontology.allowed)
        return configuration

    def _check_at_hand(self, address: str | None, ontology: str | None = None) -> None:
        """Defer requests whose graph this process has not read to the patient endpoints, because that takes long."""
        if self.patient:
            return
        new = address is not None and not self.sources.at_hand(address)
        if new or (ontology and "://" in ontology and not self.sources.at_hand(ontology, ontology=True)):
            raise TakesLongError

    def _check_number(self, records: list[dict[str, Any]]) -> None:
        if len(set().union(*records)) > self.limits.attributes:
            raise RefusedError("limit.attributes", Message("request.attributes", most=self.limits.attributes))
        if len(records) > self.limits.records:
            raise RefusedError("limit.records", Message("request.records", most=self.limits.records))


@lru_cache(CONFIGURATIONS)
def _inline(text: str, objects: tuple[DataType, ...]) -> Configuration:
    """Return the configuration of a request, cached by its JSON text, because most clients repeat it."""
    return inline(json.loads(text), objects)


Endpoint = Callable[[Endpoints, bytes], EndpointResponse]
ENDPOINTS: dict[str, Endpoint] = {
    "anonymize": Endpoints.anonymize,
    "flat": Endpoints.flat,
    "graph": Endpoints.graph,
}
_prepared: list[Endpoints] = []


def prepare(settings: Settings) -> None:
    """Prepare this process for requests."""
    from sfumato.attributes.operations.operation import load_all

    load_all()
    sources = Sources(Fetcher(settings.allowed_hosts), settings.ontologies)
    _prepared[:] = [Endpoints(sources, settings.limits, patient) for patient in (False, True)]


def answer(name: str, body: bytes, patient: bool = False) -> EndpointResponse:
    """Return the response of an endpoint to a body.

    Raises:
        TakesLongError: A graph must be read first, which is left to patient endpoints.
    """
    return ENDPOINTS[name](_prepared[patient], body)


def _objects(document: Any) -> int:
    """Return how many objects a document contains, at any depth."""
    if isinstance(document, list):
        return sum(map(_objects, document))
    return 1 + sum(map(_objects, document.values())) if isinstance(document, dict) else 0


def _figures(answer: Anonymized, kpis: bool = True) -> dict[str, Any]:
    return ({"kpis": answer.kpis} if kpis else {}) | ({"warnings": list(answer.warnings)} if answer.warnings else {})


def _answer(content: Any, records: int) -> EndpointResponse:
    try:
        return EndpointResponse(to_json(content), records)
    except ValueError:
        raise RefusedError("data.infinite", Message("request.infinite")) from None


def answer_arxaas(name: Operation, body: bytes, limits: Limits) -> EndpointResponse:
    """Return the response to a body."""
    return ARXAAS_ANSWERS[name](parse_json(body, limits), limits)


def _analyze(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(AnalyzeBody, content)
    rows = _rows(request, limits)
    return EndpointResponse(to_json(analyzed(rows, _attributes(request))), len(rows.rows))


def _anonymize(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(AnonymizeBody, content)
    rows = _rows(request, limits)
    models = [model_of(model.privacyModel, model.params) for model in request.privacyModels]
    result = anonymized(rows, _attributes(request), models, request.suppressionLimit or 0.0)
    return EndpointResponse(to_json(result), len(rows.rows))


def _hierarchy(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(HierarchyBody, content)
    _check_number(len(request.column), limits)
    column = [_text(value) or "" for value in request.column]
    return EndpointResponse(to_json({"hierarchy": build(request.builder, column)}), len(column))


ARXAAS_ANSWERS: dict[Operation, Callable[[Any, Limits], EndpointResponse]] = {
    "analyze": _analyze,
    "anonymize": _anonymize,
    "hierarchy": _hierarchy,
}


def _rows(request: AnalyzeBody, limits: Limits) -> Rows:
    _check_number(len(request.data) - 1, limits)
    names, *rows = request.data
    return Rows(tuple(_text(name) or "" for name in names), tuple(tuple(map(_text, row)) for row in rows))


def _attributes(request: AnalyzeBody) -> list[Attribute]:
    return [Attribute(one.field, one.attributeTypeModel, _labels(one.hierarchy)) for one in request.attributes]


def _labels(rows: Sequence[Sequence[Cell]] | None) -> tuple[tuple[str, ...], ...] | None:
    if not rows:
        return None
    if len({len(row) for row in rows}) > 1 or not rows[0]:
        raise RefusedError("body.schema", Message("error.part.the_rows_of_a_hierarchy_have_one"))
    return tuple(tuple(_text(value) or "" for value in row) for row in rows)


def _text(value: Cell) -> str | None:
    """Return a value as its JSON text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _check_number(rows: int, limits: Limits) -> None:
    if rows > limits.records:
        raise RefusedError("limit.records", Message("request.rows", most=limits.records))
