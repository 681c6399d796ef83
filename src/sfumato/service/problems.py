"""Map errors to one status and one body (of the service or RFC 9457), and log them without request content."""

import errno
import json
import logging
import traceback
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Literal

import orjson
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.attributes.operations.operation import ValueRefusedError
from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message
from sfumato.service.jobs.database import StoreUnavailableError
from sfumato.values import Value

API_VERSION = "1.0.0"
PROBLEM = "application/problem+json"


# The status of a refusal by its code, or by the kind with which the code begins; any other request is a bad one.
STATUSES = {
    "access": HTTPStatus.FORBIDDEN,
    "access.host": HTTPStatus.MISDIRECTED_REQUEST,
    "access.key": HTTPStatus.UNAUTHORIZED,
    "access.keys": HTTPStatus.SERVICE_UNAVAILABLE,
    "access.openid": HTTPStatus.UNAUTHORIZED,
    "body.media-type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "internal": HTTPStatus.INTERNAL_SERVER_ERROR,
    "jobs.file": HTTPStatus.NOT_FOUND,
    "jobs.gone": HTTPStatus.GONE,
    "jobs.state": HTTPStatus.CONFLICT,
    "jobs.unknown": HTTPStatus.NOT_FOUND,
    "limit": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "limit.busy": HTTPStatus.TOO_MANY_REQUESTS,
    "limit.depth": HTTPStatus.BAD_REQUEST,
    "limit.disk": HTTPStatus.INSUFFICIENT_STORAGE,
    "limit.plan": HTTPStatus.BAD_REQUEST,
    "limit.time": HTTPStatus.REQUEST_TIMEOUT,
    "limit.user-jobs": HTTPStatus.TOO_MANY_REQUESTS,
    "service": HTTPStatus.SERVICE_UNAVAILABLE,
}


class RefusedError(Exception):
    """A request that the service refuses for its size, its time or its sender."""

    def __init__(
        self, code: str, what: Message, headers: dict[str, str] | None = None, *, status: HTTPStatus | None = None
    ) -> None:
        super().__init__(what)
        kind = STATUSES.get(code.partition(".")[0], HTTPStatus.BAD_REQUEST)
        self.status = status or STATUSES.get(code, kind)
        self.code = code
        self.what = what
        self.headers = headers or {}


class ProblemResponse(Value):
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
    """Return the response for an error.

    Problem details contain positions and no values. Only the service's own form returns a value, to the sender of that
    value. The text of an unexpected error may quote data and is not returned; the response has an id to refer to
    instead.
    """
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


# Loggers of this package, whose lines were written for the log.
OWN = "sfumato"
SERVER = "uvicorn.error"
# Loggers of the HTTP server and of the libraries of the pages.
FOREIGN = (SERVER, "nicegui", "asyncio", "engineio.server", "socketio", "socketio.server")


def keep_log_plain() -> None:
    """Filter the log lines of the HTTP server.

    The HTTP server and the libraries log whole addresses and error texts, which may quote data, and browsers may send
    lines of their own. The filter reduces such a line to the logger, the kind of the error, and a position in the code.
    """
    logging.getLogger(
        "uvicorn.access"
    ).disabled = True  # it logs whole addresses; the service's own log has what is permitted
    for name in FOREIGN:
        logging.getLogger(name).addFilter(plain)  # an existing filter is not added again


def start_log() -> None:
    """Start the log of a process of the service; every line passes the filter."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(plain)


def place(error: BaseException) -> str:
    """Return where in the code an error occurred."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"


def plain(record: logging.LogRecord) -> bool:
    """Redact a log record, and return whether it is written."""
    if record.name.partition(".")[0] == OWN or hasattr(record, "plain"):
        return True
    if record.name == SERVER and not record.exc_info and not _of_connection(record):
        return True  # start, stop, and why the server cannot start
    if record.levelno < logging.WARNING:
        return False
    _reduce(record)
    return True


def _of_connection(record: logging.LogRecord) -> bool:
    """Return whether a record is about a browser's connection, with its address."""
    return "websockets" in record.pathname.replace("\\", "/").split("/")


def _reduce(record: logging.LogRecord) -> None:
    error = _error(record)
    line = {"log": record.name, "at": f"{record.pathname}:{record.lineno}"}
    if error is not None:
        line |= {"error": type(error).__name__, "at": place(error)}
    record.msg, record.args = json.dumps(line), ()
    record.exc_info = record.exc_text = record.stack_info = None
    record.plain = True


def _error(record: logging.LogRecord) -> BaseException | None:
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        return record.exc_info[1]
    return record.msg if isinstance(record.msg, BaseException) else None
