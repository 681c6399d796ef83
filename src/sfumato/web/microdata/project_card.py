"""The project card: open and save a project, load a plan, and erase everything from the server."""

import asyncio
from collections.abc import Set
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import PlanError, SfumatoError
from sfumato.hierarchies.registry import TYPES
from sfumato.localization.messages import Message
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.decisions import decided
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.model import ROLES
from sfumato.microdata.plan.read import read_plan
from sfumato.schema.issues import PlanIssues
from sfumato.service.jobs.folders import erase
from sfumato.service.jobs.plans import check_paths, read_plan_text
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.page_layout import Area
from sfumato.web.projects.archives import UNREADABLE, ExtractionLimits, TooLargeArchiveError, limits_in, pack, unpack
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import data_of

MOST_PLAN_BYTES = 1_000_000
# A folder of the project for downloads, which are not part of the project.
SAVED = "saved"


def can_be_shown(plan: Any, columns: Set[str]) -> bool:
    """Return whether a plan fits these columns; missing values are allowed, because the pages report them.

    >>> plan = {"columns": {"age": {"role": "sensitive"}}, "privacy": [{"model": "k-anonymity"}]}
    >>> can_be_shown({**plan, "method": {"name": "optimal"}}, {"age"}), can_be_shown(plan, {"age"})
    (True, False)
    """
    parts = (plan.get("data") or {}, plan.get("columns"), plan.get("method"), plan.get("output") or {})
    if not all(isinstance(part, dict) for part in parts) or set(plan["columns"]) != columns:
        return False
    return all(map(_is_column, plan["columns"].values())) and _is_goal(plan.get("privacy"), plan["method"])


def _is_column(column: Any) -> bool:
    if not isinstance(column, dict) or column.get("role") not in ROLES:
        return False
    hierarchy = column.get("hierarchy", {"type": "any"})
    return isinstance(hierarchy, dict) and hierarchy.get("type") in TYPES


def _is_goal(privacy: Any, method: dict[str, Any]) -> bool:
    promises = privacy if isinstance(privacy, list) else []
    models = [entry.get("model") for entry in promises if isinstance(entry, dict)]
    return 0 < len(models) == len(promises) and set(models) <= set(SHAPES) and method.get("name") in METHOD.variants


class ProjectCard:
    """The card of the current project."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        """Build the card."""
        words, most = self.words, self.workspace.pool.settings.upload_bytes
        with components.card(words["project"]):
            ui.label(words["stays"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-halves"):
                components.upload(words["open_project"], self._open, most, words, (".zip",))
                if self.workspace.loaded is not None:
                    components.upload(
                        words["open_plan"], self._open_plan, MOST_PLAN_BYTES, words, (".yaml", ".yml", ".json")
                    )
            self._container = ui.column().classes("w-full")
            if self.workspace.loaded is not None:
                with ui.row():
                    components.button(words["save_project"], self._save).props("outline")
                    components.button(words["erase_project"], self._ask).props("flat")

    async def _open(self, event: events.UploadEventArguments) -> None:
        """Open a project from a file; the current one stays if the file contains none."""
        folder = self.workspace.pool.folders.private("session")
        try:
            with self.workspace.working():
                await self._take(event, folder)
        except CancelledWorkError:
            await asyncio.to_thread(erase, folder)
            ui.notify(self.words["reading_cancelled"].format(name=event.file.name))
            return
        except TooLargeArchiveError:
            await self._refuse(folder, self.words["project_too_large"])
            return
        except (SfumatoError, RefusedError, *UNREADABLE, ValueError, KeyError, OSError):
            await self._refuse(folder, self.words["no_project"])
            return
        self.area.go(self.workspace.step if self.workspace.step in ("goal", "result") else "columns")

    async def _take(self, event: events.UploadEventArguments, folder: Path) -> None:
        """Unpack a project into a folder, and use it once it is complete.

        Raises:
            NoRoomError: The project is too large.
            ValueError, SfumatoError, RefusedError: The file is not a project.
        """
        limits = limits_in(folder, self.workspace.pool.settings)
        archive = _saved_in(folder)
        await event.file.save(archive)
        record = await asyncio.to_thread(_unpacked, archive, folder, limits)
        plan = record["plan"]
        data = data_of(record, folder)
        said = plan.get("data")
        plan["data"] = {**(said if isinstance(said, dict) else {}), "source": data.name}
        check_paths(plan, {path.name for path in folder.iterdir()})  # before any file that it names is read
        reading = plan["data"] if isinstance(said, dict) else None
        with self._container:
            loaded = await watched(self.workspace, self.words["reading"], load, data, reading)
        if not can_be_shown(plan, {column.name for column in loaded.columns}):
            raise ValueError("no plan")
        await asyncio.to_thread(self.workspace.restore, record, loaded, limits)
        self.workspace.tabs.changed()

    async def _refuse(self, folder: Path, why: str) -> None:
        await asyncio.to_thread(erase, folder)
        components.alarm(why)

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
        """Return a plan for the current data; its columns must match.

        Raises:
            PlanError, RefusedError: The text is not a plan, or one for other data.
        """
        assert self.workspace.loaded is not None
        plan = read_plan_text(text)
        if not isinstance(plan, dict) or not isinstance(plan.get("columns"), dict):
            raise PlanError("columns", message=Message("no_plan"), hint="")
        names = {column.name for column in self.workspace.loaded.columns}
        others = [name for name in plan["columns"] if name not in names] + [
            n for n in names if n not in plan["columns"]
        ]
        if others:
            raise PlanError("columns", message=Message("other_columns", columns=", ".join(others[:5])), hint="")
        plan["data"] = {**(plan.get("data") or {}), "source": self.workspace.loaded.path.name}
        plan.setdefault("method", dict(self.workspace.loaded.suggested["method"]))
        check_paths(plan, self.workspace.files(plan))
        read_plan(plan)
        return decided(plan, PlanIssues())

    async def _save(self) -> None:
        """Save the project as an archive next to it, for download."""
        target = _saved_in(self.workspace.place("x").parent)
        await asyncio.to_thread(self._pack, target)
        ui.download.file(target)

    def _pack(self, target: Path) -> None:
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


def _saved_in(folder: Path) -> Path:
    """Return the path of the project archive during upload or download."""
    place = folder / SAVED
    place.mkdir(exist_ok=True)
    return place / "project.sfumato.zip"


def _unpacked(archive: Path, folder: Path, limits: ExtractionLimits) -> dict[str, Any]:
    with archive.open("rb") as stream:
        record = unpack(stream, folder, limits)
    archive.unlink()
    return record
