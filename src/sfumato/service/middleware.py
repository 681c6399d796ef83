"""Middleware for every request: check of origin, proxy headers, log and counts, without the content of requests."""

import asyncio
import ipaddress
import json
import logging
import os
import re
import socket
import time
import uuid
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from sfumato.localization.messages import Message
from sfumato.service.access.authentication import AuditLog, Network, is_inside, networks_of
from sfumato.service.access.sessions import User
from sfumato.service.problems import RefusedError, answer, place
from sfumato.service.workers.messages import CrashedError

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Read when the library is first imported; from then on metrics are stored in files of the folder that it names.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
Labels = tuple[str, str, str]  # method, route, status


class Metrics:
    """The metrics of one process, and of its siblings if they share a folder.

    Processes that share a folder store their metrics in its files, so that any of them can return the sum.
    """

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._further: list[Collector] = []
        names = ("method", "route", "status")
        self._seconds = Histogram(
            "sfumato_request_seconds", "Time to answer a request.", names, registry=self._registry, buckets=BOUNDS
        )
        self._records = Counter("sfumato_records", "Records anonymized.", registry=self._registry)

    def count(self, labels: Labels, seconds: float, records: int = 0) -> None:
        """Count one request."""
        self._seconds.labels(*labels).observe(seconds)
        self._records.inc(records)

    def add(self, figures: Collector) -> None:
        """Add metrics that are computed on request."""
        self._registry.register(figures)
        self._further.append(figures)

    def text(self) -> str:
        """Return all metrics in the text format of Prometheus."""
        registry = self._registry
        if VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            for figures in self._further:
                registry.register(figures)
        return generate_latest(registry).decode()


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
    """The outermost middleware for HTTP.

    A log line has the method, route, status, duration, request id, user and job. It never has the path that a client
    sent, a query, a header or a body.
    """

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

    async def __call__(self, message: AsgiMessage) -> None:
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


SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Parts of the addresses of persistent connections, which also use safe methods.
CONNECTIONS = ("/socket.io", "/_nicegui_ws")
OWN_SITES = frozenset({"", "same-origin", "none"})


class OriginCheck:
    """Middleware that refuses foreign host names and origins.

    A page of another site reaches into a network by an unknown host name (DNS rebinding), and sends requests that the
    visitor did not make from a foreign origin (cross-site request forgery).

    Attributes:
        names: The host names of the service in addition to addresses, `localhost` and the name of its machine.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._names = names | {socket.gethostname().casefold()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.what})
        else:
            await answer(Request(scope), refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> RefusedError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            what = Message("request.host")
            return RefusedError("access.host", what)
        if _carries_more_than_a_question(scope) and not _from_own_page(headers, host):
            return RefusedError("access.origin", Message("error.part.a_page_of_another"))
        return None

    def _is_own(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold().removesuffix(".")
        except ValueError:
            return False
        return name == "localhost" or name.endswith(".localhost") or name in self._names or _is_address(name)


@lru_cache(1024)
def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _carries_more_than_a_question(scope: Scope) -> bool:
    if scope["type"] == "websocket" or scope["method"] not in SAFE:
        return True
    return any(part in scope["path"] for part in CONNECTIONS)


def _from_own_page(headers: Headers, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page at all."""
    if headers.get("sec-fetch-site", "") not in OWN_SITES:
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.casefold() == host.casefold()
    except ValueError:
        return False


# From the same machine, a false header only affects cookies.
LOCAL = frozenset({"127.0.0.0/8", "::1/128"})
SECURE = {"http": "https", "ws": "wss"}


class ForwardedScheme:
    """Middleware that uses the scheme of the connection between browser and proxy for addresses and cookies."""

    def __init__(self, app: ASGIApp, trusted: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._networks: tuple[Network, ...] = networks_of(trusted | LOCAL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and Headers(scope=scope).get("x-forwarded-proto") == "https":
            client = scope.get("client")
            if is_inside(client[0] if client else "", self._networks):
                scope = {**scope, "scheme": SECURE.get(scope["scheme"], scope["scheme"])}
        await self._app(scope, receive, send)
