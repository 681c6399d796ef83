"""Routes compatible with clients of ARXaaS: analyze, anonymize, build hierarchies."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from sfumato.service.arxaas.schemas import AnalyzeBody, AnonymizeBody, HierarchyBody, Operation
from sfumato.service.attributes.endpoints import EndpointResponse
from sfumato.service.attributes.routes import FAILURES
from sfumato.service.http.access import needs_key
from sfumato.service.http.problems import failure_responses
from sfumato.service.http.request_bodies import receive
from sfumato.service.settings import Limits
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.request_queue import RequestQueue

ANSWER = "sfumato.service.arxaas.endpoints:answer"
BODIES: dict[Operation, type[Any]] = {"analyze": AnalyzeBody, "anonymize": AnonymizeBody, "hierarchy": HierarchyBody}
ABOUT = {
    "analyze": "The risk profile of rows, as ARXaaS answers it.",
    "anonymize": "Rows anonymized at the node of least loss, as ARXaaS answers it: in order, suppressed ones as *.",
    "hierarchy": "A hierarchy for a column, by one of the builders of ARXaaS.",
}


def arxaas_routes(lanes: RequestQueue, limits: Limits) -> APIRouter:
    """Return the router of these routes."""
    router = APIRouter(tags=["ARXaaS"], dependencies=[Depends(needs_key("jobs"))])
    for name in BODIES:
        _register(router, name, lanes, limits)
    return router


def _register(router: APIRouter, name: Operation, lanes: RequestQueue, limits: Limits) -> None:
    async def run(request: Request) -> Response:
        body = await receive(request, limits)
        answer: EndpointResponse = await lanes.run(WorkerCall(ANSWER, (name, body, limits)), len(body))
        request.state.records = answer.records
        return Response(answer.body, media_type="application/json")

    content = {"application/json": {"schema": BODIES[name].model_json_schema()}}
    done: dict[int | str, dict[str, Any]] = {200: {"description": "Done.", "content": {"application/json": {}}}}
    router.add_api_route(
        f"/api/{name}",
        run,
        methods=["POST"],
        response_class=Response,
        operation_id=f"arxaas_{name}",
        summary=ABOUT[name],
        responses=done | failure_responses(FAILURES),
        openapi_extra={"requestBody": {"required": True, "content": content}},
    )
