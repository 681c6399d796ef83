"""Limit the size of uploads to the pages on the server, whatever the browser allows."""

from http import HTTPStatus

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.web.error_page import refusal


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
