"""Earlier releases on the page: their published cells are known, and their suppressed cells stay suppressed."""

import shutil
from pathlib import Path

from nicegui import events, ui

from sfumato.web import components
from sfumato.web.forms import Values
from sfumato.web.projects.workspace import Workspace

MOST_BYTES = 20_000_000


class Releases:
    """The ZIP files of earlier releases that a table is protected with."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._words = workspace, workspace.words
        self._paths: dict[str, Path] = {}

    def build(self) -> None:
        with components.card(self._words["releases"]):
            ui.label(self._words["releases_says"]).classes("sf-soft")
            components.upload(self._words["releases_upload"], self._uploaded, MOST_BYTES, self._words, (".zip",))
            self._room = ui.column().classes("w-full gap-0")

    def plan(self) -> Values:
        """Return the part of a plan that names them."""
        return {"previous": list(self._paths)} if self._paths else {}

    def files(self) -> dict[str, Path]:
        """Return the files by name."""
        return dict(self._paths)

    def keep(self, archive: Path) -> None:
        """Add the current release as an earlier one."""
        path = self._next()
        shutil.copyfile(archive, path)
        self._add(path)

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        path = self._next()
        path.write_bytes(await event.file.read())
        self._add(path)

    def _next(self) -> Path:
        number = 1 + max((int(name.removesuffix(".zip").rpartition("-")[2]) for name in self._paths), default=0)
        return self._workspace.place(f"release-{number}.zip")

    def _add(self, path: Path) -> None:
        self._paths[path.name] = path
        self._show()

    def _show(self) -> None:
        self._room.clear()
        with self._room:
            for name in self._paths:
                with ui.row().classes("items-center"):
                    ui.label(name)
                    components.button(self._words["remove"], lambda name=name: self._remove(name)).props("flat dense")

    def _remove(self, name: str) -> None:
        self._paths.pop(name).unlink(missing_ok=True)
        self._show()
