"""The key of a browser: a secret in a cookie by which its projects are found and decrypted.

The server never stores it. Files on disk are named and encrypted with values derived from it, so that without the
browser nobody can read them or determine whose they are.
"""

from http.cookies import SimpleCookie
from secrets import token_urlsafe

from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "sfumato_key"
LENGTH = 43
KEPT_SECONDS = 180 * 24 * 3600


class BrowserKeys:
    """Middleware that gives a browser its key, available to the pages as `request.state.browser_key`."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        # A request may pass here twice, for an application inside another, but gets a key once.
        key = state.get("browser_key") or key_in(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
        own = state["browser_key"] = key or token_urlsafe(32)
        if scope["type"] == "websocket":  # a page has set the key, or none can be set here
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            # Only pages set a key: their assets are requested at the same time and would set others.
            if message["type"] == "http.response.start" and key is None and _is_page(message):
                secure = "; Secure" if scope.get("scheme") == "https" else ""
                cookie = f"{COOKIE}={own}; Path={self._path}; Max-Age={KEPT_SECONDS}; HttpOnly; SameSite=Strict{secure}"
                message["headers"] = [*message["headers"], (b"set-cookie", cookie.encode())]
            await send(message)

        await self._app(scope, receive, with_cookie)


def _is_page(message: Message) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"])


def key_in(cookies: str) -> str | None:
    """Return the key in the cookies of a request.

    >>> key_in("a=b; sfumato_key=" + "x" * 43) == "x" * 43, key_in("sfumato_key=short")
    (True, None)
    """
    morsel = SimpleCookie(cookies).get(COOKIE)
    value = morsel.value if morsel is not None else ""
    return value if len(value) == LENGTH and value.replace("-", "").replace("_", "").isalnum() else None
