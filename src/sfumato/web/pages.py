"""Mount the pages under /app: one workspace per browser, stored encrypted when it is left."""

import asyncio
import re
from collections.abc import Callable
from copy import copy
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from nicegui import Client, ui
from nicegui import app as pages_app
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.localization.messages import accepted_words, languages, words_in
from sfumato.policies.presets import policies
from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.users import User
from sfumato.service.jobs.pool import Pool
from sfumato.web import components, error_page
from sfumato.web.attributes.attribute_area import AttributeArea
from sfumato.web.error_page import refusal
from sfumato.web.help import help_area
from sfumato.web.microdata.rows_area import RowsArea
from sfumato.web.page_access import PageDoor
from sfumato.web.page_layout import Shell
from sfumato.web.projects.browser_key import BrowserKeys
from sfumato.web.projects.upload_activity import Receiving, visitor_key
from sfumato.web.projects.workspace import Workspace
from sfumato.web.projects.workspaces import Workspaces
from sfumato.web.tables.table_area import TableArea

# Higher levels make pages hardly smaller and much slower.
LEVEL = 1
# Paths of downloads.
DOWNLOADS = "/_nicegui/auto/static/"
# Addresses created while pages are open: for uploads of a field and for downloads.
MADE = re.compile(r"(/_nicegui/(?:client|auto))/(?P<rest>.*)")
CONNECTION = "/_nicegui_ws/"
POLICY_VIOLATION = 1008
PATH = "/app"
LOOKING_SECONDS = 5.0
# How long a page without connection can be resumed; after that it is rebuilt.
RECONNECTING_SECONDS = 30.0
# Names under which the page components have their own texts ("Expand", "No data").
LANGUAGES: dict[str, Literal["de", "en-US"]] = {"de": "de", "en": "en-US"}
AREAS: dict[str, Callable[[Shell], None]] = {
    "/": lambda shell: RowsArea(shell).build(),
    "/tables": lambda shell: TableArea(shell).build(),
    "/attributes": lambda shell: AttributeArea(shell).build(),
    "/help": help_area.build,
}


def mount_pages(app: FastAPI, pool: Pool, door: Authenticator) -> None:
    """Mount the pages on an application; only once per process, because there is one page application."""
    workspaces = Workspaces(pool)
    pages_app.config.quasar_config["loadingBar"] = {"skipHijack": True}  # it has no label for screen readers
    for path, area in AREAS.items():
        _add_page(path, area, workspaces)
    pages_app.add_exception_handler(HTTPStatus.NOT_FOUND, error_page.answer_missing)
    pages_app.add_exception_handler(Exception, error_page.answer_failure)
    pages_app.add_middleware(Receiving, workspaces=workspaces)
    pages_app.add_middleware(UploadLimit, most_bytes=pool.settings.upload_bytes)
    pages_app.add_middleware(PageOwners)
    pages_app.add_middleware(BrowserKeys, path=PATH)
    pages_app.add_middleware(PageDoor, door=door, path=PATH)
    pages_app.on_shutdown(workspaces.close)
    pages_app.on_startup(lambda: _watch(workspaces, pool.settings.session_seconds))
    pages_app.on_startup(_read_ahead)
    ui.run_with(
        app,
        mount_path=PATH,
        title="Sfumato",
        dark=None,
        language="en-US",
        reconnect_timeout=RECONNECTING_SECONDS,
        show_welcome_message=False,
        favicon=components.ICON,
        gzip_middleware_factory=Compression,
        tailwind=False,
    )


def _add_page(path: str, area: Callable[[Shell], None], workspaces: Workspaces) -> None:
    @ui.page(path)
    async def page(request: Request, client: Client, language: str = "") -> None:
        user: User = request.state.user
        key = visitor_key(request.scope["state"])
        workspace = await asyncio.to_thread(workspaces.of, key)
        workspace.owner, workspace.user = user.owner, user.label
        _speak(workspace, language, request.headers.get("accept-language", ""))
        client.page = copy(client.page)  # it is shared by all visitors, whatever their language
        client.page.language = LANGUAGES.get(workspace.words.language, "en-US")
        client.on_exception(lambda: components.alarm(workspace.words["internal"]))  # the log has its type and location
        frame = Shell(workspace, path, lambda: workspaces.erase(key))
        with frame.build():
            area(frame)


def _speak(workspace: Workspace, choice: str, accepted: str) -> None:
    """Set the language to the choice on the page, or to the browser's preference."""
    if choice in languages():
        workspace.language = choice
    workspace.words = words_in(workspace.language) if workspace.language else accepted_words(accepted)


async def _watch(workspaces: Workspaces, session_seconds: float) -> None:
    """Encrypt, at intervals, the workspaces of inactive visitors."""

    async def look() -> None:
        while True:
            await asyncio.sleep(min(LOOKING_SECONDS, max(session_seconds / 4, 0.1)))
            await asyncio.to_thread(workspaces.seal_idle, session_seconds)

    _tasks.add(asyncio.create_task(look()))


async def _read_ahead() -> None:
    """Load what a step needs in advance."""
    _tasks.add(asyncio.create_task(asyncio.to_thread(policies)))


_tasks: set["asyncio.Task[Any]"] = set()


# The page library finds a page by a number in its address, whoever asks. Here the owner of the page is checked.
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
