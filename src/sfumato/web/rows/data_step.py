"""The step of data: drop a file or choose an example; then its first rows, types and missing values."""

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.loaded_data import KINDS, Column, Loaded, is_text, load
from sfumato.web.rows.area import Area
from sfumato.web.visit import Visit

EXAMPLES = {"patients": "patients.csv", "census": "census.csv", "stroke": "stroke.csv", "eight-rows": "eight-rows.csv"}
# What a text that is not UTF-8 most often is.
ENCODINGS = ("cp1252", "latin-1", "cp1250")


def build(area: Area) -> None:
    """The step, for an area."""
    _DataStep(area).build()


class _DataStep:
    def __init__(self, area: Area) -> None:
        self.area, self.visit = area, area.visit

    def build(self) -> None:
        words = self.visit.words
        ui.label(words["stays"]).classes("sf-soft")
        most = self.visit.pool.settings.upload_bytes
        components.upload(words["drop"], self._uploaded, most, words, KINDS)
        with ui.row().classes("items-center mt-2"):
            ui.label(words["example"])
            for name in EXAMPLES:
                components.button(name, lambda name=name: self._example(name)).props("outline")
        self._shown = ui.column().classes("w-full mt-4")
        if self.visit.loaded:
            self._show(self.visit.loaded)

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        await asyncio.to_thread(self.visit.end)
        target = self.visit.place(event.file.name)
        await event.file.save(target)
        await self._load(target, None)

    async def _example(self, name: str) -> None:
        from sfumato.datasets import DATASETS

        await asyncio.to_thread(self.visit.end)
        target = self.visit.place(EXAMPLES[name])
        dataset = DATASETS[name]()
        await asyncio.to_thread(dataset.write, target)
        planned = dataset.plan(target.name, min(5, dataset.rows // 2))
        await self._load(target, planned | {"output": {"format": "csv", "order": "shuffle", "suppressed": "drop"}})

    async def _load(self, path: Path, planned: dict[str, Any] | None, encoding: str | None = None) -> None:
        self.visit.touch()
        self._shown.clear()
        with self._shown:
            ui.label(self.visit.words["reading"]).props('role="status"')
        try:
            loaded = await self.visit.aside(load, path, planned, encoding)
        except (SfumatoError, RefusedError) as error:
            if error.code == "data.encoding" and is_text(path):
                self._ask_for_encoding(path, encoding)
                return
            await asyncio.to_thread(self.visit.end)
            self._refuse(components.error_text(error, self.visit.words))
            return
        adopt(self.visit, loaded)
        self._show(loaded)

    def _refuse(self, why: str) -> None:
        self._shown.clear()
        with self._shown, ui.card().classes("sf-card").props('role="alert"'):
            ui.label(self.visit.words["failed"]).classes("font-bold text-negative")
            ui.label(why)

    def _ask_for_encoding(self, path: Path, tried: str | None) -> None:
        """The file waits until the visitor has said what it is written in."""
        words = self.visit.words
        self._shown.clear()
        with self._shown, ui.card().classes("sf-card").props('role="alert"'):
            ui.label(words["wrong_encoding"].format(tried=words.get(f"encoding.{tried}", "UTF-8")))
            ui.select(
                {name: words[f"encoding.{name}"] for name in ENCODINGS},
                label=words["encoding"],
                on_change=lambda event: self._load(path, None, event.value),
            ).classes("w-full")

    def _show(self, loaded: Loaded) -> None:
        words = self.visit.words
        self._shown.clear()
        with self._shown:
            size = words["loaded"].format(rows=words.count(loaded.rows), columns=len(loaded.columns))
            ui.label(f"{loaded.path.name}: {size}").classes("text-lg font-bold")
            ui.label(words["preview"]).classes("sf-soft")
            names = [column.name for column in loaded.columns]
            components.table(names, ([(row[name] or "", "") for name in names] for row in loaded.preview))
            head = [words["column"], words["kind"], words["distinct"], words["missing"]]
            plans = loaded.suggested["columns"]
            components.table(
                head,
                (_summary(column, plans[column.name], words) for column in loaded.columns),
            )
            self.area.ways(None, "columns")


def _summary(column: Column, plan: dict[str, Any], words: Words) -> list[tuple[str, str]]:
    distinct, missing = (words.count(count) for count in (len(column.values), column.missing))
    cells = [column.name, words[f"type.{plan.get('type', 'text')}"], distinct]
    return [*((text, "") for text in cells), (missing, "masked" if column.missing else "")]


def adopt(visit: Visit, loaded: Loaded) -> None:
    """Take loaded data, and the plan that is suggested for them."""
    visit.loaded = loaded
    visit.plan = deepcopy(loaded.suggested)
    visit.extra = {}
    visit.result = None
