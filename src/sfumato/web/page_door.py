"""The door of the pages: who has not signed in is led to where they can, before anything of a visit is made."""

from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.service.access.door import Door
from sfumato.service.access.sign_in import PATH as SIGN_IN
from sfumato.service.http.problems import RefusedError


class PageDoor:
    """Middleware before pages, what they load, and their connections."""

    def __init__(self, app: ASGIApp, door: Door, path: str) -> None:
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
                await send({"type": "websocket.close", "code": 1008, "reason": refusal.what})
            else:
                await self._answer(connection, refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _answer(self, connection: HTTPConnection, refusal: RefusedError) -> Response:
        if connection.scope["method"] != "GET" or (self._door.keys is None and self._door.openid is None):
            return PlainTextResponse(refusal.what, refusal.status, refusal.headers)
        path = connection.scope["path"]
        target = path if path.startswith(self._path) else self._path
        return RedirectResponse(f"{SIGN_IN}?next={quote(target)}", 303)
