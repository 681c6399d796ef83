"""The outermost layer: number each request, count it, write one log line, and catch every error.

A line has method, route, status, duration, number, user and job, never a path that a client sent, a query, a header or
a body.
"""

import asyncio
import json
import logging
import re
import time
import uuid
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.service.access.audit_log import AuditLog
from sfumato.service.access.users import User
from sfumato.service.http.log_lines import place
from sfumato.service.http.metrics import Metrics
from sfumato.service.http.problems import answer
from sfumato.service.workers.messages import CrashedError

LOG = logging.getLogger("sfumato.service")
ACCEPTED_ID = re.compile(r"[0-9a-fA-F-]{8,64}")
# Default headers of responses, unless their route sets them.
UNLESS_SAID = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"frame-ancestors 'self'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"SAMEORIGIN"),
]
REFUSED = (401, 403)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestLog:
    """The outermost middleware for HTTP."""

    def __init__(self, app: ASGIApp, metrics: Metrics, audit: AuditLog) -> None:
        self._app, self._metrics, self._audit = app, metrics, audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        state["request_id"] = _request_id(Request(scope))
        answered = _Answer(send, state["request_id"])
        try:
            await self._app(scope, receive, answered)
        except Exception as error:  # its text may contain data, so only its type and place are logged
            log_error(error, state["request_id"])
            if not answered.status:
                await answer(Request(scope), error)(scope, receive, answered)
        finally:
            self._note(scope, answered.status or 499, time.perf_counter() - started)
            if self._audit.kept:
                await self._keep(scope, answered.status or 499)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        labels = (method, _route(scope), str(status))
        records = int(scope["state"].get("records", 0))
        self._metrics.count(labels, seconds, records)
        line = {"request": scope["state"]["request_id"], "method": method, "route": labels[1], "status": status}
        who = {"user": user.owner} if (user := scope["state"].get("user")) and user.name else {}
        job = {"job": scope["state"]["job"]} if "job" in scope["state"] else {}
        LOG.info(json.dumps(line | who | job | {"records": records, "seconds": round(seconds, 4)}))

    async def _keep(self, scope: Scope, status: int) -> None:
        """Write a line to the audit log, unless the request only asks about the service itself."""
        operation = getattr(scope.get("route"), "operation_id", None)
        state = scope["state"]
        user: User | None = state.get("user")
        refused = status in REFUSED or state.get("kept_out", False)
        if operation is None or (user is None and not refused):
            return
        more = {"job": state.get("job"), "records": state.get("records"), "request": state["request_id"]}
        who = user.owner if user is not None else ""
        await asyncio.to_thread(self._audit.note, who, operation, status=status, **more)


class _Answer:
    """Passes a response on, records its status, and adds common headers."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            added = [(b"x-request-id", self._id.encode()), (b"x-content-type-options", b"nosniff")]
            names = {name.lower() for name, _ in message.get("headers", ())}
            added += [header for header in UNLESS_SAID if header[0] not in names]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await self._send(message)


def _request_id(request: Request) -> str:
    sent = request.headers.get("x-request-id", "")
    return sent if ACCEPTED_ID.fullmatch(sent) else uuid.uuid4().hex


def _route(scope: Scope) -> str:
    """Return the route pattern, or "unmatched", never the path; routes created at run time set their own name."""
    route: Any = scope.get("route")
    return scope["state"].get("route") or str(getattr(route, "path", "")) or "unmatched"


def log_error(error: BaseException, request_id: str = "") -> None:
    """Log an unexpected error."""
    crash = error if isinstance(error, CrashedError) else CrashedError(type(error).__name__, place(error))
    LOG.error(json.dumps({"request": request_id, "error": crash.kind, "at": crash.place}))
