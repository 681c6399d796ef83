"""The workspaces of all browsers, found by the key in a cookie: open ones in memory, others encrypted on disk."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from http.cookies import SimpleCookie
from secrets import token_urlsafe
from threading import Lock
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import SfumatoError
from sfumato.service.jobs.pool import Pool
from sfumato.web.projects.archives import EncryptedProjects
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import Workspace, data_of

_log = logging.getLogger("sfumato.web")


class Workspaces:
    """The workspaces by the keys of browsers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._projects = EncryptedProjects(pool.settings.folder, pool.settings.keep_seconds)
        self._live: dict[str, Workspace] = {}
        self._lock = Lock()

    def of(self, key: str) -> Workspace:
        """Return the workspace of a browser: the live one, the encrypted one, or a new one."""
        with self._lock:
            if key not in self._live:
                self._live[key] = self._opened(key)
            workspace = self._live[key]
        workspace.touch()
        return workspace

    def _opened(self, key: str) -> Workspace:
        workspace = Workspace(self._pool)
        if not self._projects.path(key).exists():
            return workspace
        folder = workspace.place("x").parent
        record = self._projects.open(key, folder)
        try:
            if record is None:
                raise ValueError("no project")
            workspace.drafts = dict(record.get("drafts") or {})
            if record["data"] is not None:
                workspace.restore(record, load(data_of(record, folder), record["plan"].get("data")))
        except (SfumatoError, ValueError, KeyError):
            _log.warning("a project that was left could not be opened again")
            workspace.close()
        self._projects.erase(key)
        return workspace

    def erase(self, key: str) -> None:
        """Erase all data of a browser."""
        with self._lock:
            workspace = self._live.get(key)
            self._projects.erase(key)
        if workspace is not None:
            workspace.close()
            workspace.drafts.clear()

    @contextmanager
    def working(self, key: str) -> Iterator[None]:
        """Keep the workspace of a browser awake while something is done for it, if it exists."""
        workspace = self._live.get(key)
        with workspace.working() if workspace is not None else nullcontext():
            yield

    def seal_idle(self, seconds: float) -> None:
        """Encrypt workspaces that were unused for that long, and remove them from memory; erase old ones.

        A workspace that cannot be encrypted, or is used meanwhile, stays awake until the next attempt.
        """
        with self._lock:
            idle = {key: space for key, space in self._live.items() if space.is_idle(seconds)}
            for key, workspace in idle.items():
                if not self._seal(key, workspace):
                    workspace.touch()
                elif workspace.fall_asleep(seconds):
                    workspace.close()
                    del self._live[key]
                else:
                    self._projects.erase(key)
        with suppress(OSError):
            self._projects.erase_old()

    def close(self) -> None:
        """Encrypt all workspaces when the server ends; no readable data remains."""
        with self._lock:
            for key, workspace in self._live.items():
                self._seal(key, workspace)
                workspace.asleep = True
                workspace.close()
            self._live.clear()

    def _seal(self, key: str, workspace: Workspace) -> bool:
        """Encrypt a project; return whether its workspace can be closed without loss."""
        workspace.settle()
        if workspace.loaded is None and not workspace.drafts:
            return True
        try:
            files = workspace.parts() if workspace.loaded else {}  # other files belong to the closed page
            self._projects.seal(key, files, workspace.record() | {"drafts": workspace.drafts})
        except (OSError, ImportError) as error:
            _log.warning("a project could not be kept: %s", type(error).__name__)
            return False
        return True


COOKIE = "sfumato_key"
LENGTH = 43
KEPT_SECONDS = 180 * 24 * 3600


class BrowserKeys:
    """Middleware that gives a browser its key, available to the pages as `request.state.browser_key`.

    The server never stores a key. Files on disk are named and encrypted with values derived from it, so that without
    the browser's key they cannot be read or attributed to a browser.
    """

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
