"""Middleware that checks requests to the pages (sign-in, page owner, upload size), and the error page."""

import asyncio
import re
from contextlib import suppress
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qs, quote

from nicegui import Client
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.localization.messages import Messages, accepted_words, languages, words_in
from sfumato.report.html_page import style
from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.sign_in import PATH as SIGN_IN
from sfumato.service.problems import RefusedError
from sfumato.web.components import ICON
from sfumato.web.projects.workspaces import visitor_key

# Addresses that the page library creates for open pages: for uploads to a field and for downloads.
MADE = re.compile(r"(/_nicegui/(?:client|auto))/(?P<rest>.*)")
CONNECTION, DOWNLOADS = "/_nicegui_ws/", "/_nicegui/auto/static/"
# Compression level; higher levels are much slower, and pages become hardly smaller.
LEVEL = 1
HOME = "/app"
# The error page runs no script and loads nothing.
HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_STYLE = """
main { max-width: 34rem; padding-top: 14vh; } main > svg { width: 3.2rem; margin-bottom: 1.2rem; }
a { display: inline-block; margin-top: .8rem; padding: .45rem 1.1rem; border-radius: .5rem; background: var(--accent);
  color: var(--card); font-weight: 600; text-decoration: none; }
a:focus-visible { outline: 2px solid var(--before); outline-offset: 2px; }
section { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); }
section a { background: none; color: var(--accent); padding: 0; margin: 0; text-decoration: underline; }
"""


def refusal(connection: HTTPConnection, status: HTTPStatus, headers: dict[str, str] | None = None) -> Response:
    """Return the response to a refused request: a page for people, a line for programs."""
    first = accepted_words(connection.headers.get("accept-language", ""))
    if "text/html" not in connection.headers.get("accept", ""):
        return PlainTextResponse(first[f"refusal.{status.value}"], status, headers)
    home = f"{connection.scope.get('root_path') or HOME}/"
    return HTMLResponse(error_html(first, status, home), status, {**HEADERS, **(headers or {})})


def error_html(first: Messages, status: HTTPStatus, home: str) -> str:
    """Return the error page in the requested language, followed by all other languages in smaller type."""
    others = [words_in(language) for language in languages() if language != first.language]
    css = style("colors", "report") + _STYLE
    return (
        f'<!doctype html>\n<html lang="{first.language}"><head><meta charset="utf-8"><title>Sfumato</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{css}</style></head>\n'
        f"<body><main>{ICON}<h1>{escape(first[f'refusal.{status.value}'])}</h1>\n{_rest(first, status, home)}"
        f"{''.join(_other(words, status, home) for words in others)}</main></body></html>\n"
    )


def _rest(words: Messages, status: HTTPStatus, home: str) -> str:
    says, back = escape(words[f"refusal.{status.value}.says"]), escape(words["refusal.back"])
    return f'<p>{says}</p><a href="{escape(home)}">{back}</a>'


def _other(words: Messages, status: HTTPStatus, home: str) -> str:
    what = escape(words[f"refusal.{status.value}"])
    return f'<section lang="{words.language}"><b>{what}</b>{_rest(words, status, home)}</section>'


async def answer_missing(request: Request, _: Exception) -> Response:
    """Respond to a request for a missing page."""
    return refusal(request, HTTPStatus.NOT_FOUND)


async def answer_failure(request: Request, _: Exception) -> Response:
    """Respond to an internal error of a page, without details, which may contain values."""
    return refusal(request, HTTPStatus.INTERNAL_SERVER_ERROR)


# Interval at which the permission of open connections is checked.
LOOKING_SECONDS = 2.0
POLICY_VIOLATION = 1008


class PageDoor:
    """Middleware that controls access to pages, their assets, and their connections."""

    def __init__(self, app: ASGIApp, door: Authenticator, path: str) -> None:
        self._app, self._door, self._path = app, door, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            self._door.admit(connection, "pages")
        except RefusedError as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": error.what})
            else:
                await self._answer(connection, error)(scope, receive, send)
            return
        if scope["type"] == "websocket" and not self._door.open:
            await self._while_admitted(connection, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _while_admitted(self, connection: HTTPConnection, receive: Receive, send: Send) -> None:
        """Serve a connection until its user loses access; then end it as if the browser had closed it."""
        turned_away = asyncio.ensure_future(self._turned_away(connection))

        async def receive_while_admitted() -> Message:
            message = asyncio.ensure_future(receive())
            await asyncio.wait({message, turned_away}, return_when=asyncio.FIRST_COMPLETED)
            if not turned_away.done():
                return message.result()
            message.cancel()
            return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}

        try:
            await self._app(connection.scope, receive_while_admitted, send)
        finally:
            turned_away.cancel()

    async def _turned_away(self, connection: HTTPConnection) -> None:
        """Wait until the user loses access, because the key was revoked or the sign-in has expired."""
        with suppress(RefusedError):
            while True:
                await asyncio.sleep(LOOKING_SECONDS)
                self._door.admit(connection, "pages")

    def _answer(self, connection: HTTPConnection, error: RefusedError) -> Response:
        if connection.scope["method"] != "GET" or (self._door.keys is None and self._door.openid is None):
            if error.status == HTTPStatus.FORBIDDEN:
                return refusal(connection, HTTPStatus.FORBIDDEN, error.headers)
            return PlainTextResponse(error.what, error.status, error.headers)
        path = connection.scope["path"]
        target = path if path.startswith(self._path) else self._path
        return RedirectResponse(f"{SIGN_IN}?next={quote(target)}", 303)


class PageOwners:
    """Middleware that refuses requests for the page of another visitor.

    The page library finds a page by the id in the address and does not check who sends the request. The middleware also
    records the kind of such an address as the route, for the log and the metrics.
    """

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
    """Return the ids of the pages that an address refers to."""
    path: str = scope["path"]
    if CONNECTION in path:
        return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("client_id", [])
    made = MADE.search(path)
    return [made["rest"].partition("/")[0]] if made and made[1].endswith("client") else []


def _may_reach(scope: Scope, page: str) -> bool:
    """Return whether a page belongs to the visitor; True for a page that does not exist, which the library reports."""
    client = Client.instances.get(page)
    return client is None or visitor_key(client.request.scope["state"]) == visitor_key(scope["state"])


class TooLarge(Exception):  # noqa: N818  (it is caught here, never shown)
    """A body exceeds the limit."""


class UploadLimit:
    """Middleware that ends requests whose body is too large."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app, self._most = app, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self._most:
            await _refusal(scope)(scope, receive, send)
            return
        try:
            await self._app(scope, _counted(receive, self._most), send)
        except TooLarge:
            await _refusal(scope)(scope, receive, send)


def _refusal(scope: Scope) -> Response:
    return refusal(HTTPConnection(scope), HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"connection": "close"})


def _counted(receive: Receive, most: int) -> Receive:
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise TooLarge
        return message

    return counted


class Compression(GZipMiddleware):
    """Middleware that compresses pages and their assets."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and DOWNLOADS in scope["path"]:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
