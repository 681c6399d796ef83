"""Headers of a proxy about a connection, such as whether it was encrypted; trusted from the proxy's address alone."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.service.access.authentication import Network, is_inside, networks_of

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
