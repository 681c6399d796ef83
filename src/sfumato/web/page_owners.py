"""Give access to the resources of a page (upload fields, websocket) to its own visitor alone.

The page library finds a page by a number in its address, whoever asks. Here the owner of the page is checked.
"""

import re
from http import HTTPStatus
from urllib.parse import parse_qs

from nicegui import Client
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.web.error_page import refusal
from sfumato.web.projects.upload_activity import visitor_key

# Addresses created while pages are open: for uploads of a field and for downloads.
MADE = re.compile(r"(/_nicegui/(?:client|auto))/(?P<rest>.*)")
CONNECTION = "/_nicegui_ws/"
POLICY_VIOLATION = 1008


class PageOwners:
    """Middleware that refuses requests for another visitor's page, and names such addresses for log and metrics."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if made := MADE.search(scope["path"]):
            scope["state"]["route"] = made[1]
        if all(_may_reach(scope, page) for page in _pages(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await refusal(HTTPConnection(scope), HTTPStatus.NOT_FOUND)(scope, receive, send)


def _pages(scope: Scope) -> list[str]:
    """Return the pages that an address names."""
    path: str = scope["path"]
    if CONNECTION in path:
        return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("client_id", [])
    made = MADE.search(path)
    return [made["rest"].partition("/")[0]] if made and made[1].endswith("client") else []


def _may_reach(scope: Scope, page: str) -> bool:
    """Return whether a page belongs to the visitor; True for a page that does not exist, which the library reports."""
    client = Client.instances.get(page)
    return client is None or visitor_key(client.request.scope["state"]) == visitor_key(scope["state"])
