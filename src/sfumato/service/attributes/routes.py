"""The endpoints that anonymize attributes: for records, for flat records of a graph's class, for whole graphs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from sfumato.service.attributes import examples
from sfumato.service.attributes.schemas import AnonymizeAnswer, AnonymizeRequest, FlatAnswer, FlatRequest, GraphRequest
from sfumato.service.attributes.work import Job, Work
from sfumato.service.http.access import needs_key
from sfumato.service.http.bodies import receive
from sfumato.service.http.desk import Desk
from sfumato.service.http.problems import failure_responses
from sfumato.service.http.settings import Limits

METHODS = ("PUT", "POST")
FAILURES = {400: "The request or its data are refused.", 401: "A key is needed.", 408: "It took too long."}
FAILURES |= {413: "Too large.", 415: "Not JSON.", 429: "Too much is waiting.", 500: "A fault of the service."}
FAILURES |= {503: "A part of the service is missing."}
LD_JSON = "application/ld+json"
Runner = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """One operation on the wire: its paths, its work, and what the documentation says."""

    name: str
    paths: Sequence[str]
    job: Job
    about: str
    request: type[Any]
    answer: dict[str, Any]
    examples: dict[str, Any]
    media_type: str = "application/json"


def attribute_routes(work: Work, desk: Desk) -> APIRouter:
    """The router of the attribute endpoints."""
    router = APIRouter(tags=["attributes"], dependencies=[Depends(needs_key)])
    for endpoint in _endpoints(work):
        run = _runner(endpoint, desk, work.limits)
        for path in endpoint.paths:
            for method in METHODS:
                _register(router, endpoint, path, method, run)
    return router


def _endpoints(work: Work) -> list[_Endpoint]:
    return [
        _Endpoint(
            "anonymize",
            ("/api/anonymise", "/api/anonymization"),
            work.anonymize,
            "Anonymize records attribute by attribute, by a configuration at an address or in the request.",
            AnonymizeRequest,
            _content(AnonymizeAnswer, {"inline": examples.INLINE_ANSWER, "by address": examples.BY_ADDRESS_ANSWER}),
            {"inline": examples.INLINE, "by address": examples.BY_ADDRESS},
        ),
        _Endpoint(
            "anonymize_flat",
            ("/api/anonymise/flatjson", "/api/anonymization/flatjson"),
            work.flat,
            "Anonymize flat records of a class of a configuration graph.",
            FlatRequest,
            _content(FlatAnswer, {"flat": examples.FLAT_ANSWER}),
            {"flat": examples.FLAT},
        ),
        _Endpoint(
            "anonymize_graph",
            ("/api/anonymise/jsonld", "/api/anonymization/jsonld"),
            work.graph,
            "Anonymize a JSON-LD document: values become nodes of new names, originals are removed.",
            GraphRequest,
            {LD_JSON: {"schema": {"type": ["object", "array"], "description": "A JSON-LD document."}}},
            {"graph": examples.GRAPH},
            LD_JSON,
        ),
    ]


def _runner(endpoint: _Endpoint, desk: Desk, limits: Limits) -> Runner:
    async def run(request: Request) -> Response:
        body = await receive(request, limits)
        done = await desk.run(partial(endpoint.job, body))
        request.state.records = done.records
        return Response(done.body, 202, media_type=endpoint.media_type)

    return run


def _register(router: APIRouter, endpoint: _Endpoint, path: str, method: str, run: Runner) -> None:
    done: dict[int | str, dict[str, Any]] = {202: {"description": "Anonymized.", "content": endpoint.answer}}
    router.add_api_route(
        path,
        run,
        methods=[method],
        status_code=202,
        response_class=Response,
        operation_id=f"{endpoint.name}_{method.lower()}_{path.strip('/').replace('/', '_')}",
        summary=endpoint.about,
        responses=done | failure_responses(FAILURES),
        openapi_extra={"requestBody": _request_body(endpoint)},
    )


def _request_body(endpoint: _Endpoint) -> dict[str, Any]:
    schema = _inlined(endpoint.request.model_json_schema())
    shown = {name: {"summary": name, "value": value} for name, value in endpoint.examples.items()}
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": shown}}}


def _content(model: type[Any], shown: dict[str, Any]) -> dict[str, Any]:
    answers = {name: {"summary": name, "value": value} for name, value in shown.items()}
    return {"application/json": {"schema": _inlined(model.model_json_schema()), "examples": answers}}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its definitions put where they are used; none refers to itself."""
    definitions = schema.pop("$defs", {})

    def walk(value: Any) -> Any:
        if isinstance(value, dict) and "$ref" in value:
            return walk(definitions[value["$ref"].rsplit("/", 1)[1]])
        if isinstance(value, dict):
            return {key: walk(entry) for key, entry in value.items()}
        return [walk(entry) for entry in value] if isinstance(value, list) else value

    inlined: dict[str, Any] = walk(schema)
    return inlined
