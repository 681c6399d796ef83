"""Which host names the service answers to, and which pages may send requests to it: its own alone.

An unknown host name is how a foreign page reaches into a network (DNS rebinding); a foreign origin is how it sends
requests that the visitor did not make (cross-site request forgery).
"""

import ipaddress
import socket
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.localization.messages import Message
from sfumato.service.http.problems import RefusedError, answer

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Parts of the addresses of persistent connections, which also use safe methods.
CONNECTIONS = ("/socket.io", "/_nicegui_ws")
OWN_SITES = frozenset({"", "same-origin", "none"})


class OriginCheck:
    """Middleware that refuses foreign host names and origins.

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
            what = "This service has another name; its operator can allow more (--allow-host)."
            return RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "access.host", what)
        if _carries_more_than_a_question(scope) and not _from_own_page(headers, host):
            return RefusedError(HTTPStatus.FORBIDDEN, "access.origin", Message("error.part.a_page_of_another"))
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
