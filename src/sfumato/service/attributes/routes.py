"""HTTP routes that anonymize attributes of records and knowledge graphs, and routes with the interface of ARXaaS."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from sfumato.service.access.authentication import check_key, needs_key
from sfumato.service.attributes.endpoints import EndpointResponse
from sfumato.service.attributes.schemas import (
    BY_ADDRESS,
    BY_ADDRESS_ANSWER,
    FLAT,
    FLAT_ANSWER,
    GRAPH,
    INLINE,
    INLINE_ANSWER,
    AnalyzeBody,
    AnonymizeAnswer,
    AnonymizeBody,
    AnonymizeRequest,
    FlatAnswer,
    FlatRequest,
    GraphRequest,
    HierarchyBody,
    Operation,
)
from sfumato.service.problems import failure_responses
from sfumato.service.request_bodies import receive
from sfumato.service.settings import Limits
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.request_queue import RequestQueue
from sfumato.values import Value

METHODS = ("PUT", "POST")
FAILURES = {
    400: "The request or its data are refused.",
    401: "A key is needed.",
    403: "The key is for other parts.",
    408: "It took too long.",
}
FAILURES |= {413: "Too large.", 415: "Not JSON.", 429: "Too much is waiting.", 500: "A fault of the service."}
FAILURES |= {503: "A part of the service is missing."}
LD_JSON = "application/ld+json"
ANSWER = "sfumato.service.attributes.endpoints:answer"
Runner = Callable[[Request], Coroutine[Any, Any, Response]]


class _Route(Value):
    """An operation: its paths, its schemas and its documentation."""

    name: str
    paths: Sequence[str]
    about: str
    request: type[Any]
    answer: dict[str, Any]
    examples: dict[str, Any]
    media_type: str = "application/json"


class _DirectRoute(APIRoute):
    """A route without FastAPI's dependencies: it checks the key header, and workers parse the body."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)  # responds with the allowed methods
            return
        request = Request(scope, receive)
        check_key(request, "attributes")
        response = await self.endpoint(request)
        await response(scope, receive, send)


def add_attribute_routes(app: FastAPI, lanes: RequestQueue, limits: Limits) -> None:
    """Add the attribute routes directly to the application, because a separate router would match each path twice."""
    for route in _routes():
        run = _runner(route, lanes, limits)
        for path in route.paths:
            for method in METHODS:
                _register(app.router, route, path, method, run)


def _routes() -> list[_Route]:
    return [
        _Route(
            "anonymize",
            ("/api/anonymise", "/api/anonymization"),
            "Anonymize records attribute by attribute, by a configuration at an address or in the request.",
            AnonymizeRequest,
            _content(AnonymizeAnswer, {"inline": INLINE_ANSWER, "by address": BY_ADDRESS_ANSWER}),
            {"inline": INLINE, "by address": BY_ADDRESS},
        ),
        _Route(
            "flat",
            ("/api/anonymise/flatjson", "/api/anonymization/flatjson"),
            "Anonymize flat records of a class of a configuration graph.",
            FlatRequest,
            _content(FlatAnswer, {"flat": FLAT_ANSWER}),
            {"flat": FLAT},
        ),
        _Route(
            "graph",
            ("/api/anonymise/jsonld", "/api/anonymization/jsonld"),
            "Anonymize a JSON-LD document: values become nodes of new names, originals are removed.",
            GraphRequest,
            {LD_JSON: {"schema": {"type": ["object", "array"], "description": "A JSON-LD document."}}},
            {"graph": GRAPH},
            LD_JSON,
        ),
    ]


def _runner(route: _Route, lanes: RequestQueue, limits: Limits) -> Runner:
    async def run(request: Request) -> Response:
        body = await receive(request, limits)
        patient = WorkerCall(ANSWER, (route.name, body, True))
        answer: EndpointResponse = await lanes.run(WorkerCall(ANSWER, (route.name, body)), len(body), patient)
        request.state.records = answer.records
        return Response(answer.body, 202, media_type=route.media_type)

    return run


def _register(router: APIRouter, route: _Route, path: str, method: str, run: Runner) -> None:
    done: dict[int | str, dict[str, Any]] = {202: {"description": "Anonymized.", "content": route.answer}}
    router.add_api_route(
        path,
        run,
        methods=[method],
        status_code=202,
        response_class=Response,
        operation_id=f"{route.name}_{method.lower()}_{path.strip('/').replace('/', '_')}",
        summary=route.about,
        responses=done | failure_responses(FAILURES),
        openapi_extra={"requestBody": {"required": True, "content": _content(route.request, route.examples)}},
        tags=["attributes"],
        dependencies=[Depends(needs_key("attributes"))],
        route_class_override=_DirectRoute,
    )


def _content(model: type[Any], examples: dict[str, Any]) -> dict[str, Any]:
    entries = {name: {"summary": name, "value": value} for name, value in examples.items()}
    return {"application/json": {"schema": model.model_json_schema(), "examples": entries}}


ARXAAS_ANSWER = "sfumato.service.attributes.endpoints:answer_arxaas"
ARXAAS_BODIES: dict[Operation, type[Any]] = {
    "analyze": AnalyzeBody,
    "anonymize": AnonymizeBody,
    "hierarchy": HierarchyBody,
}
ARXAAS_ABOUT = {
    "analyze": "The risk profile of rows, as ARXaaS answers it.",
    "anonymize": "Rows anonymized at the node of least loss, as ARXaaS answers it: in order, suppressed ones as *.",
    "hierarchy": "A hierarchy for a column, by one of the builders of ARXaaS.",
}


def arxaas_routes(lanes: RequestQueue, limits: Limits) -> APIRouter:
    """Return the router of the routes compatible with ARXaaS."""
    router = APIRouter(tags=["ARXaaS"], dependencies=[Depends(needs_key("jobs"))])
    for name in ARXAAS_BODIES:
        _register_arxaas(router, name, lanes, limits)
    return router


def _register_arxaas(router: APIRouter, name: Operation, lanes: RequestQueue, limits: Limits) -> None:
    async def run(request: Request) -> Response:
        body = await receive(request, limits)
        answer: EndpointResponse = await lanes.run(WorkerCall(ARXAAS_ANSWER, (name, body, limits)), len(body))
        request.state.records = answer.records
        return Response(answer.body, media_type="application/json")

    content = {"application/json": {"schema": ARXAAS_BODIES[name].model_json_schema()}}
    done: dict[int | str, dict[str, Any]] = {200: {"description": "Done.", "content": {"application/json": {}}}}
    router.add_api_route(
        f"/api/{name}",
        run,
        methods=["POST"],
        response_class=Response,
        operation_id=f"arxaas_{name}",
        summary=ARXAAS_ABOUT[name],
        responses=done | failure_responses(FAILURES),
        openapi_extra={"requestBody": {"required": True, "content": content}},
    )
