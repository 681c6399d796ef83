"""Map errors to one status and one body, in the form of the service or as RFC 9457 problem details.

Problem details name places and no values. The service's own form returns to the sender the value that it sent, and no
other. An unexpected error is answered with a number to ask about; its own text, which may quote data, is not returned.
"""

import errno
import json
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Literal

import orjson
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.attributes.operations.operation import ValueRefusedError
from sfumato.dataclass import dataclass
from sfumato.errors import SfumatoError
from sfumato.service.store.database import StoreUnavailableError

API_VERSION = "1.0.0"
PROBLEM = "application/problem+json"


class RefusedError(Exception):
    """A request that the service refuses for its size, its time or its sender."""

    def __init__(self, status: HTTPStatus, code: str, what: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(what)
        self.status = status
        self.code = code
        self.what = what
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class ProblemResponse:
    """The response instead of a result.

    Attributes:
        detail: What is wrong, without any value.
        quoting: The text of the original service, which includes the sender's value; only for its own form.
    """

    status: int
    code: str
    detail: str
    headers: tuple[tuple[str, str], ...] = ()
    quoting: str = ""

    def body(self) -> dict[str, Any]:
        """Return the body in the service's own form."""
        return {"version": API_VERSION, "valid": False, "errorMessage": self.quoting or self.detail}

    def details(self, request_id: str) -> dict[str, Any]:
        """Return the body in the form of RFC 9457."""
        return {
            "type": f"urn:sfumato:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "requestId": request_id,
            "version": API_VERSION,
            "valid": False,
        }


def problem_of(error: Exception) -> ProblemResponse:
    """Return the response for an error."""
    if isinstance(error, ValueRefusedError):
        return ProblemResponse(error.status.http, error.code, error.text_with_place(), quoting=error.text_for_sender())
    if isinstance(error, SfumatoError):
        return ProblemResponse(error.status.http, error.code, str(error))
    if isinstance(error, RefusedError):
        return ProblemResponse(error.status, error.code, error.what, tuple(error.headers.items()))
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase
        code = "http." + phrase.lower().replace(" ", "-")
        return ProblemResponse(error.status_code, code, phrase, tuple((error.headers or {}).items()))
    if is_disk_full(error):
        return ProblemResponse(507, "store.full", "The disk of the service is full.", (("retry-after", "60"),))
    if isinstance(error, StoreUnavailableError):
        return ProblemResponse(
            503, "store.busy", "The store of jobs does not answer; try again.", (("retry-after", "5"),)
        )
    return ProblemResponse(500, "internal", "An internal error; nothing was anonymized. Ask with the request's id.")


def is_disk_full(error: Exception) -> bool:
    """Return whether the system reports a full disk or an exceeded quota."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def answer(request: Request, error: Exception) -> Response:
    """Return the response to a failed request, in the form that the client accepts."""
    problem = problem_of(error)
    wants_problem = PROBLEM in request.headers.get("accept", "")
    content = problem.details(request_id(request)) if wants_problem else problem.body()
    media_type = PROBLEM if wants_problem else "application/json"
    return Response(to_json(content), problem.status, dict(problem.headers), media_type)


async def handle(request: Request, error: Exception) -> Response:
    """Handle an error; the application registers this function."""
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error = HTTPException(error.status_code, headers={**(error.headers or {}), **_allowed(request)})
    return answer(request, error)


def _allowed(request: Request) -> dict[str, str]:
    """Return all documented methods of a path, because a route of one method knows only its own."""
    path = getattr(request.scope.get("route"), "path", request.scope["path"])
    methods = request.app.openapi()["paths"].get(path, {})
    return {"Allow": ", ".join(sorted(method.upper() for method in methods))} if methods else {}


def request_id(request: Request) -> str:
    """Return the id of a request."""
    return str(request.scope.get("state", {}).get("request_id", ""))


def to_json(content: Any) -> bytes:
    """Return JSON text as bytes; lone surrogates, which UTF-8 cannot represent, are escaped.

    Raises:
        ValueError: A number is infinite.
    """
    with suppress(TypeError):  # an integer of more than 64 bits, or a lone surrogate
        text = orjson.dumps(content)
        if b"null" not in text:  # infinity would be written as null
            return text
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Failure(BaseModel):
    """Why there is no result; nothing was partially done."""

    version: str
    valid: Literal[False]
    errorMessage: str  # noqa: N815


class ProblemDetails(BaseModel):
    """The problem details of RFC 9457, for clients that accept application/problem+json."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    requestId: str  # noqa: N815


def failure_responses(failures: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of error responses."""
    content = {
        "application/json": {"schema": Failure.model_json_schema()},
        PROBLEM: {"schema": ProblemDetails.model_json_schema()},
    }
    return {status: {"description": text, "content": content} for status, text in failures.items()}
