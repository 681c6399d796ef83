"""Projects: open and save one, open a plan for the data at hand, and erase all that lies on the server."""

import asyncio
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from nicegui import events, ui

from sfumato.errors import PlanError, SfumatoError
from sfumato.microdata.plan.read import read_plan
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.plans import check_paths, read_plan_text
from sfumato.web import components
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.sealed_projects import pack, unpack
from sfumato.web.rows.area import Area

MOST_PLAN_BYTES = 1_000_000
# A folder of the project for what is downloaded; what lies in it is no part of the project.
SAVED = "saved"


class ProjectCard:
    """The card of the project at hand."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        """The card."""
        words, most = self.words, self.workspace.pool.settings.upload_bytes
        with components.card(words["project"]):
            ui.label(words["stays"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-halves"):
                components.upload(words["open_project"], self._open, most, words, (".zip",))
                if self.workspace.loaded is not None:
                    components.upload(
                        words["open_plan"], self._open_plan, MOST_PLAN_BYTES, words, (".yaml", ".yml", ".json")
                    )
            if self.workspace.loaded is not None:
                with ui.row():
                    components.button(words["save_project"], self._save).props("outline")
                    components.button(words["erase_project"], self._ask).props("flat")

    async def _open(self, event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        try:
            record = await asyncio.to_thread(self._unpack, content)
            path = self.workspace.data_of(record)
            loaded = await self.workspace.aside(load, path, record["plan"].get("data"))
            self.workspace.restore(record, loaded)
        except (SfumatoError, RefusedError, ValueError, KeyError, BadZipFile):
            await asyncio.to_thread(self.workspace.close)
            components.alarm(self.words["no_project"])
        self.area.go(
            "columns" if self.workspace.loaded and self.workspace.step in ("data", "release") else self.workspace.step
        )

    def _unpack(self, content: bytes) -> dict[str, Any]:
        self.workspace.close()
        return unpack(BytesIO(content), self.workspace.place("x").parent)

    async def _open_plan(self, event: events.UploadEventArguments) -> None:
        text = (await event.file.read()).decode("utf-8-sig", "replace")
        try:
            self.workspace.change_plan(self._fitting(text))
        except (SfumatoError, RefusedError) as error:
            components.alarm(components.error_text(error, self.words))
            return
        ui.notify(self.words["plan_opened"], type="positive")
        self.area.go("columns")

    def _fitting(self, text: str) -> dict[str, Any]:
        """A plan for the data at hand: its columns must be theirs.

        Raises:
            PlanError, RefusedError: It is no plan, or one for other data.
        """
        assert self.workspace.loaded is not None
        plan = read_plan_text(text)
        if not isinstance(plan, dict) or not isinstance(plan.get("columns"), dict):
            raise PlanError(self.words["no_plan"])
        names = {column.name for column in self.workspace.loaded.columns}
        others = [name for name in plan["columns"] if name not in names] + [
            n for n in names if n not in plan["columns"]
        ]
        if others:
            raise PlanError(self.words["other_columns"].format(columns=", ".join(others[:5])))
        plan["data"] = {**(plan.get("data") or {}), "source": self.workspace.loaded.path.name}
        plan.setdefault("method", dict(self.workspace.loaded.suggested["method"]))
        check_paths({"columns": plan["columns"], "privacy": plan.get("privacy")}, self.workspace.extra)
        read_plan(plan)
        return plan

    async def _save(self) -> None:
        """The project as an archive, written beside it and read from there."""
        target = self.workspace.place("x").parent / SAVED / "project.sfumato.zip"
        await asyncio.to_thread(self._pack, target)
        ui.download.file(target)

    def _pack(self, target: Path) -> None:
        target.parent.mkdir(exist_ok=True)
        with target.open("wb") as stream:
            pack(stream, self.workspace.parts(), self.workspace.record())

    def _ask(self) -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label(self.words["erase_sure"])
            with ui.row():
                components.button(self.words["erase_project"], lambda: self._erase(dialog), color="negative")
                components.button(self.words["close"], dialog.close).props("flat")
        dialog.open()

    async def _erase(self, dialog: ui.dialog) -> None:
        dialog.close()
        await asyncio.to_thread(self.area.shell.erase)
        self.workspace.tabs.changed()
        self.area.go("data")
