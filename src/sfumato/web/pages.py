"""The pages on the server: mounted under /app, one visit an open page, nothing kept when it is left."""

import asyncio
from copy import copy
from typing import Any, Literal

from fastapi import FastAPI, Request
from nicegui import Client, ui
from nicegui import app as pages_app

from sfumato.service.http.keys import ApiKeys
from sfumato.service.jobs.pool import Pool
from sfumato.texts.words import accepted_words
from sfumato.web import components
from sfumato.web.attributes import attribute_area
from sfumato.web.rows import rows_area
from sfumato.web.tables import table_area
from sfumato.web.upload_limit import UploadLimit
from sfumato.web.visit import Visit

PATH = "/app"
LOOKING_SECONDS = 5.0
# Names under which the components of the pages have words of their own ("Expand", "No data").
LANGUAGES: dict[str, Literal["de", "en-US"]] = {"de": "de", "en": "en-US"}
visits: dict[str, Visit] = {}


def mount_pages(app: FastAPI, pool: Pool, keys: ApiKeys | None) -> None:
    """Put the pages on an application; once a process, since the pages' own application is one."""
    for path, area in (("/", rows_area.build), ("/tables", table_area.build), ("/attributes", attribute_area.build)):
        _add_page(path, area, pool, keys)
    pages_app.add_middleware(UploadLimit, most_bytes=pool.settings.upload_bytes)
    pages_app.on_shutdown(_end_all)
    pages_app.on_startup(_watch_expiry)
    ui.run_with(
        app,
        mount_path=PATH,
        title="Sfumato",
        dark=None,
        language="en-US",
        reconnect_timeout=5.0,
        show_welcome_message=False,
        favicon=components.ICON,
    )


def _add_page(path: str, area: Any, pool: Pool, keys: ApiKeys | None) -> None:
    @ui.page(path)
    async def page(request: Request, client: Client) -> None:
        visit = Visit(pool, accepted_words(request.headers.get("accept-language", "")))
        client.page = copy(client.page)  # it is shared by all visitors, whatever they speak
        client.page.language = LANGUAGES.get(visit.words.language, "en-US")
        visits[visit.id] = visit
        client.on_delete(lambda: _end(visit))
        client.on_exception(lambda: components.alarm(visit.words["internal"]))  # the log tells its kind and place
        components.frame(visit.words, path)
        with ui.element("main").classes("sf-main"):
            if keys is None:
                area(visit)
            else:
                _ask_for_key(visit, keys, area)


def _ask_for_key(visit: Visit, keys: ApiKeys, area: Any) -> None:
    """The door, where the server has keys."""
    words_ = visit.words
    room = ui.column().classes("w-full")

    def enter() -> None:
        if not keys.opens(field.value or ""):
            components.alarm(words_["key_wrong"])
            return
        room.clear()
        with room:
            area(visit)

    with room, ui.card().classes("sf-card"):
        ui.label(words_["key_needed"])
        field = ui.input(words_["key"], password=True).props("autocomplete=off").on("keydown.enter", enter)
        ui.button(words_["enter"], on_click=enter)


async def _end(visit: Visit) -> None:
    visits.pop(visit.id, None)
    await asyncio.to_thread(visit.end)


async def _end_all() -> None:
    for visit in list(visits.values()):
        await _end(visit)


async def _watch_expiry() -> None:
    """Erase what belongs to visitors who have done nothing for long."""

    async def look() -> None:
        while True:
            await asyncio.sleep(min(LOOKING_SECONDS, max(_shortest() / 4, 0.1)))
            for visit in [visit for visit in visits.values() if visit.expired and visit.folder is not None]:
                await asyncio.to_thread(visit.end)

    _tasks.add(asyncio.create_task(look()))


def _shortest() -> float:
    return min((visit.pool.settings.session_seconds for visit in visits.values()), default=LOOKING_SECONDS * 4)


_tasks: set["asyncio.Task[None]"] = set()
