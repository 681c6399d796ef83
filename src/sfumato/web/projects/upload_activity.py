"""Keep the workspace of a visitor open while an upload is received."""

from contextlib import nullcontext
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.web.projects.workspaces import Workspaces


class Receiving:
    """Middleware that counts an upload as activity, from its first byte to its last."""

    def __init__(self, app: ASGIApp, workspaces: Workspaces) -> None:
        self._app, self._workspaces = app, workspaces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sends = scope["type"] == "http" and scope["method"] == "POST"
        with self._workspaces.working(visitor_key(scope["state"])) if sends else nullcontext():
            await self._app(scope, receive, send)


def visitor_key(state: dict[str, Any]) -> str:
    """Return the key of a workspace from the state of a request: the browser's key, and the signed-in user."""
    user = state.get("user")
    return f"{state['browser_key']}:{user.owner}" if user is not None and user.name else str(state["browser_key"])
