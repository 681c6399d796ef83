"""The step of data: drop a file or choose an example; then its first rows, types and missing values."""

import asyncio
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.microdata.data_plan import DataPlan
from sfumato.service.http.problems import RefusedError
from sfumato.web import components
from sfumato.web.projects.loaded_data import KINDS, Loaded, is_text, load
from sfumato.web.rows.area import Area
from sfumato.web.rows.project_card import ProjectCard

EXAMPLES = {"patients": "patients.csv", "census": "census.csv", "stroke": "stroke.csv", "eight-rows": "eight-rows.csv"}
# Endings of files whose first line may hold names.
HEADED = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")
# What a text that is not UTF-8 most often is.
ENCODINGS = ("cp1252", "latin-1", "cp1250")


class DataStep:
    """Data are dropped, chosen or looked at."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace = area, area.workspace

    def build(self) -> None:
        words = self.workspace.words
        with components.head(words["data"], words["data_about"]):
            self.area.ways(None, "columns" if self.workspace.loaded else None)
        with components.card():
            most = self.workspace.pool.settings.upload_bytes
            components.upload(words["drop"], self._uploaded, most, words, KINDS)
            with ui.row().classes("items-center"):
                ui.label(words["example"]).classes("sf-soft")
                for name in EXAMPLES:
                    components.button(name, lambda name=name: self._example(name)).props("outline dense")
        self._shown = ui.column().classes("w-full")
        if self.workspace.loaded:
            self._show(self.workspace.loaded)
        ProjectCard(self.area).build()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        await asyncio.to_thread(self.workspace.close)
        target = self.workspace.place(event.file.name)
        await event.file.save(target)
        await self._load(target, None)

    async def _example(self, name: str) -> None:
        from sfumato.datasets import DATASETS

        await asyncio.to_thread(self.workspace.close)
        target = self.workspace.place(EXAMPLES[name])
        dataset = DATASETS[name]()
        await asyncio.to_thread(dataset.write, target)
        planned = dataset.plan(target.name, min(5, dataset.rows // 2))
        await self._load(target, planned | {"output": {"format": "csv", "order": "shuffle", "suppressed": "drop"}})

    async def _load(
        self, path: Path, planned: dict[str, Any] | None, encoding: str | None = None, header: bool | None = None
    ) -> None:
        self.workspace.touch()
        self._shown.clear()
        with self._shown:
            ui.label(self.workspace.words["reading"]).props('role="status"')
        try:
            loaded = await self.workspace.aside(load, path, planned, encoding, header)
        except (SfumatoError, RefusedError) as error:
            if error.code == "data.encoding" and is_text(path):
                self._ask_for_encoding(path, encoding)
                return
            if error.code == "plan.header":
                self._ask_for_header(path, encoding)
                return
            await asyncio.to_thread(self.workspace.close)
            self._refuse(components.error_text(error, self.workspace.words))
            return
        self.workspace.adopt(loaded)
        self.area.refresh()

    def _refuse(self, why: str) -> None:
        self._shown.clear()
        with self._shown, ui.element("div").classes("sf-card").props('role="alert"'):
            ui.label(self.workspace.words["failed"]).classes("font-bold text-negative")
            ui.label(why)

    def _ask_for_encoding(self, path: Path, tried: str | None) -> None:
        """The file waits until the visitor has said what it is written in."""
        words = self.workspace.words
        self._shown.clear()
        with self._shown, ui.element("div").classes("sf-card").props('role="alert"'):
            ui.label(words["wrong_encoding"].format(tried=words.get(f"encoding.{tried}", "UTF-8")))
            ui.select(
                {name: words[f"encoding.{name}"] for name in ENCODINGS},
                label=words["encoding"],
                on_change=lambda event: self._load(path, None, event.value),
            ).classes("w-full")

    def _ask_for_header(self, path: Path, encoding: str | None) -> None:
        """The file waits until the visitor has said whether its first line holds names or data."""
        words = self.workspace.words
        self._shown.clear()
        with self._shown, ui.element("div").classes("sf-card").props('role="alert"'):
            ui.label(words["header.asked"])
            with ui.row():
                components.button(words["header.data"], lambda: self._load(path, None, encoding, False))
                components.button(words["header.names"], lambda: self._load(path, None, encoding, True)).props(
                    "outline"
                )

    def _switch(self, loaded: Loaded) -> None:
        """The switch of a table without a header: its first line is data, and its columns are c1, c2, …."""
        if loaded.path.suffix.lower() not in HEADED:
            return
        read = loaded.read
        encoding = None if read.encoding == DataPlan().encoding else read.encoding
        ui.switch(
            self.workspace.words["header.data"],
            value=read.header is False,
            on_change=lambda event: self._load(loaded.path, None, encoding, False if event.value else None),
        ).props("dense")

    def _show(self, loaded: Loaded) -> None:
        words = self.workspace.words
        size = words["loaded"].format(rows=words.count(loaded.rows), columns=len(loaded.columns))
        with self._shown, components.card(f"{loaded.path.name}: {size}"):
            self._switch(loaded)
            ui.label(words["preview"]).classes("sf-soft sf-small")
            names = [column.name for column in loaded.columns]
            components.table(names, ([(row[name] or "", "") for name in names] for row in loaded.preview))
