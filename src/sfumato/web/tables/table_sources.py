"""What a table on the page is made with: counted rows of the open project, and earlier releases."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.microdata.plan.model import REMOVED_ROLES
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CrashedError
from sfumato.values import Value, asdict, replace
from sfumato.web import components
from sfumato.web.forms import Values
from sfumato.web.projects.loaded_data import planned_codes
from sfumato.web.projects.workspace import Workspace
from sfumato.web.tables.crosstabs import MOST_CATEGORIES, CountedTable, count_table

MOST_COLUMNS = 3


class CountedPersons(Value):
    """The summary of a counted table: number of rows and persons, and the person column.

    Attributes:
        several: Persons in more than one cell; if there are any, rows are counted and persons are in a separate column.
    """

    column: str
    rows: int
    persons: int
    several: int


class RowCounting:
    """Builds the controls that count rows, and shows a summary until the table changes.

    Args:
        take: Gets the counted table and its summary.
        wait: Whether the buttons that run the table wait until it is complete.
        kept: The summary from before the page was reloaded.
    """

    def __init__(
        self,
        workspace: Workspace,
        take: Callable[[CountedTable, CountedPersons | None], None],
        wait: Callable[[bool], None],
        kept: dict[str, Any],
    ) -> None:
        self._workspace, self._words, self._take, self._wait = workspace, workspace.words, take, wait
        self._told = CountedPersons(**kept) if kept else None

    def build(self) -> None:
        """Build the choice of columns, if there is a project, and a place for the summary."""
        if self._workspace.loaded is not None:
            self._line()
        self._container = ui.column().classes("w-full gap-1").props('role="status"')
        self.tell(self._told)

    def _line(self) -> None:
        words, loaded = self._words, self._workspace.loaded
        assert loaded is not None
        named = {name for role in ("person", *REMOVED_ROLES) for name in self._of_role(role)}
        columns = [column for column in loaded.columns if column.name not in named]
        names = [column.name for column in columns if len(column.counts) <= MOST_CATEGORIES]
        with ui.row().classes("items-center w-full"):
            ui.label(words["crosstab"]).classes("sf-soft")
            chosen = ui.select(names, label=words["crosstab_columns"], multiple=True).props("dense").classes("w-64")
            components.held(chosen)

            async def take() -> None:
                if chosen.value:
                    await self._count(list(chosen.value)[:MOST_COLUMNS])

            self._button = components.button(words["crosstab_take"], take).props("outline dense")

    async def _count(self, names: list[str]) -> None:
        """Count the rows of the project into a table and pass it on; buttons are disabled meanwhile."""
        loaded, person = self._workspace.loaded, next(iter(self._of_role("person")), "")
        assert loaded is not None
        missing = [str(text) for text in self._workspace.plan.get("data", {}).get("missing", ())]
        asked = (names, self._words, missing, person)
        self._begin(True)
        try:
            read = replace(loaded.read, codes=planned_codes(self._workspace.plan))
            table = await self._workspace.aside(count_table, loaded.path, read, *asked)
        except (SfumatoError, RefusedError, CrashedError) as error:
            components.alarm(components.error_text(error, self._words))
            return
        finally:
            self._begin(False)
        self._take(table, CountedPersons(person, table.rows, table.persons, table.several) if person else None)

    def _begin(self, begun: bool) -> None:
        self._button.set_enabled(not begun)
        self._wait(begun)

    def tell(self, told: CountedPersons | None) -> None:
        """Show whether persons or rows were counted, for the current table."""
        self._told = told
        self._container.clear()
        if told is None:
            return
        numbers = {key: self._words.count(getattr(told, key)) for key in ("rows", "persons", "several")}
        text = self._words["crosstab_several" if told.several else "crosstab_of_persons"]
        with self._container:
            components.notice(text.format(column=told.column, **numbers), good=None)

    def entered(self) -> dict[str, Any]:
        """Return the summary in plain values, for storage."""
        return asdict(self._told) if self._told else {}

    def _of_role(self, role: str) -> list[str]:
        """Return the columns of a role in the current project."""
        columns = self._workspace.plan.get("columns", {})
        return [name for name, column in columns.items() if column.get("role") == role]


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
            self._container = ui.column().classes("w-full gap-0")

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
        with components.refilled(self._container):
            for name in self._paths:
                with ui.row().classes("items-center"):
                    ui.label(name)
                    components.button(self._words["remove"], lambda name=name: self._remove(name)).props("flat dense")

    def _remove(self, name: str) -> None:
        self._paths.pop(name).unlink(missing_ok=True)
        self._show()
