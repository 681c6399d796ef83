"""Mount the pages under /app: one workspace per browser, stored encrypted when it is left; and the help page."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI, Request
from nicegui import Client, ui
from nicegui import app as pages_app

from sfumato.bundled_docs import FIRST, pages, title
from sfumato.docs_reference.pages import written
from sfumato.localization.messages import DEFAULT, accepted_words, languages, words_in
from sfumato.policies.policy import policies
from sfumato.report.html_page import all_entries, definitions
from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.sessions import User
from sfumato.service.jobs.pool import Pool
from sfumato.web import components
from sfumato.web.attribute_area import AttributeArea
from sfumato.web.microdata.rows_area import RowsArea
from sfumato.web.page_layout import Shell
from sfumato.web.page_requests import Compression, PageDoor, PageOwners, UploadLimit, answer_failure, answer_missing
from sfumato.web.projects.workspace import Workspace
from sfumato.web.projects.workspaces import BrowserKeys, Receiving, Workspaces, visitor_key
from sfumato.web.tables.table_area import TableArea

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
    "/help": lambda shell: HelpArea(shell).build(),
}

# Pictures are left out: they show the pages that the visitor has open.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
FOLDERS = ("methods", "models")
HELP_STEPS = ("data", "columns", "goal", "result", "release")
_TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def mount_pages(app: FastAPI, pool: Pool, door: Authenticator) -> None:
    """Mount the pages on an application; only once per process, because there is one page application."""
    workspaces = Workspaces(pool)
    pages_app.config.quasar_config["loadingBar"] = {"skipHijack": True}  # it has no label for screen readers
    for path, area in AREAS.items():
        _add_page(path, area, workspaces)
    pages_app.add_exception_handler(HTTPStatus.NOT_FOUND, answer_missing)
    pages_app.add_exception_handler(Exception, answer_failure)
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


class HelpArea:
    """How to use the pages, the glossary, and the documentation: an index by groups, and the current page."""

    def __init__(self, shell: Shell) -> None:
        self.words = shell.workspace.words
        self._buttons: dict[str, Any] = {}

    def build(self) -> None:
        words = self.words
        with components.head(words["help_area"], words["help_about"]):
            pass
        steps = [(words[step], words[f"help.{step}"]) for step in HELP_STEPS]
        for title_key, entries in (("help_steps", steps), ("sign.glossary", all_entries(words))):
            with components.card(words[title_key]):
                ui.html(definitions(entries), sanitize=False).classes("sf-glossary")
        if shelf := pages():
            self._documentation(shelf)

    def _documentation(self, shelf: Mapping[str, Path]) -> None:
        """Build the index and a container for a page below it."""
        words = self.words
        with components.card(words["help_documents"]):
            if words.language != DEFAULT:
                ui.label(words["help_english"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-index").props('lang="en"'):
                for group, names in grouped(shelf).items():
                    ui.html(f"<h4>{escape(words[f'help_group.{group}'])}</h4>", sanitize=False)
                    for name in names:
                        self._entry(name, title(shelf[name]))
        self._container = ui.column().classes("w-full gap-4")
        components.listen("sf_back", lambda event: self._read(str(event.args)))
        ui.run_javascript("sfArrive('')")

    def _entry(self, name: str, called: str) -> None:
        self._buttons[name] = ui.element("button").on("click", lambda: self._choose(name))
        with self._buttons[name]:
            ui.html(escape(called), sanitize=False, tag="span")

    def _choose(self, name: str) -> None:
        """Open a page and add it to the browser history."""
        self._read(name)
        ui.run_javascript(f"sfStep({json.dumps(name)})")

    def _read(self, name: str) -> None:
        """Show the page that the address names, or none."""
        if name in self._buttons:
            self._open(name)
        else:
            self._container.clear()
            ui.run_javascript("sfStand('')")

    def _open(self, name: str) -> None:
        """Show a page and scroll to it."""
        for other, button in self._buttons.items():
            button.props('aria-current="true"') if other == name else button.props(remove="aria-current")
        with components.refilled(self._container), components.card(classes="sf-document") as card:
            card.props('lang="en"')
            text = _PICTURE.sub("", written(name))
            ui.markdown(titled(text), extras=["tables", "fenced-code-blocks"]).classes("sf-table").props('tabindex="0"')
        ui.run_javascript("document.querySelector('.sf-document')?.scrollIntoView({behavior: 'smooth'})")


def titled(text: str) -> str:
    """Return a page with the file names of examples above them, because the Markdown renderer ignores titles.

    >>> print(titled('```csv title="a.csv"\\nn\\n```'))
    `a.csv`
    <BLANKLINE>
    ```csv
    n
    ```
    """
    return _TITLED.sub(r"`\2`\n\n```\1", text)


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Group the pages: introduction, pages by folder, and the rest.

    >>> grouped(["index", "how-to/arx", "risk", "models/k-map"])
    {'start': ['index', 'how-to/arx'], 'guides': ['risk'], 'models': ['models/k-map']}
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        folder = name.partition("/")[0]
        group = "start" if folder in FIRST else folder if "/" in name and folder in FOLDERS else "guides"
        groups.setdefault(group, []).append(name)
    return groups
