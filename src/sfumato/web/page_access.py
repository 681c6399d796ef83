"""Redirect visitors of the pages to sign-in before a workspace is created."""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.sign_in import PATH as SIGN_IN
from sfumato.service.http.problems import RefusedError
from sfumato.web import error_page

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
        except RefusedError as refusal:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refusal.what})
            else:
                await self._answer(connection, refusal)(scope, receive, send)
            return
        if scope["type"] == "websocket" and not self._door.open:
            await self._while_admitted(connection, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _while_admitted(self, connection: HTTPConnection, receive: Receive, send: Send) -> None:
        """Serve a connection until its user loses access; it then ends as if the browser had closed it."""
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
        """Return once the user would be refused: the key was revoked, or the sign-in has ended."""
        with suppress(RefusedError):
            while True:
                await asyncio.sleep(LOOKING_SECONDS)
                self._door.admit(connection, "pages")

    def _answer(self, connection: HTTPConnection, refusal: RefusedError) -> Response:
        if connection.scope["method"] != "GET" or (self._door.keys is None and self._door.openid is None):
            if refusal.status == HTTPStatus.FORBIDDEN:
                return error_page.refusal(connection, HTTPStatus.FORBIDDEN, refusal.headers)
            return PlainTextResponse(refusal.what, refusal.status, refusal.headers)
        path = connection.scope["path"]
        target = path if path.startswith(self._path) else self._path
        return RedirectResponse(f"{SIGN_IN}?next={quote(target)}", 303)
