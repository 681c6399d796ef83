"""Count the rows or persons of the open project for a table, and by which columns."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from nicegui import ui

from sfumato.dataclass import dataclass
from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.service.workers.messages import CrashedError
from sfumato.web import components
from sfumato.web.projects.loaded_data import planned_codes
from sfumato.web.projects.workspace import Workspace
from sfumato.web.tables.crosstab import MOST_CATEGORIES
from sfumato.web.tables.tabulated_rows import CountedTable, count_table

MOST_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class CountedPersons:
    """What there is to tell of a table that was counted: how many rows and persons, by which column.

    Attributes:
        several: Persons who stand in more than one cell, so that rows are counted and persons stand beside.
    """

    column: str
    rows: int
    persons: int
    several: int


class RowCounting:
    """The line that counts rows, and what is told of the count until the table is another.

    Args:
        take: Takes the table that was counted, and what there is to tell of it.
        wait: Whether the buttons that run the table wait until it is there.
        kept: What was told before the page was opened again.
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
        """The columns to count by, where there is a project, and a place for what is told of the count."""
        if self._workspace.loaded is not None:
            self._line()
        self._room = ui.column().classes("w-full gap-1").props('role="status"')
        self.tell(self._told)

    def _line(self) -> None:
        words, loaded = self._words, self._workspace.loaded
        assert loaded is not None
        named = {name for role in ("person", "identifier") for name in self._of_role(role)}
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
        """Hand over the table that the project's rows make; nothing runs meanwhile."""
        loaded, person = self._workspace.loaded, next(iter(self._of_role("person")), "")
        assert loaded is not None
        asked = (names, self._words, self._missing(), person)
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
        """Say whether persons were counted or rows, of the table at hand alone."""
        self._told = told
        self._room.clear()
        if told is None:
            return
        numbers = {key: self._words.count(getattr(told, key)) for key in ("rows", "persons", "several")}
        text = self._words["crosstab_several" if told.several else "crosstab_of_persons"]
        with self._room:
            components.notice(text.format(column=told.column, **numbers), good=None)

    def entered(self) -> dict[str, Any]:
        """What is told, in plain values, as it is kept."""
        return asdict(self._told) if self._told else {}

    def _of_role(self, role: str) -> list[str]:
        """The columns of a role in the project at hand."""
        columns = self._workspace.plan.get("columns", {})
        return [name for name, column in columns.items() if column.get("role") == role]

    def _missing(self) -> list[str]:
        """Texts that mean "missing" in the project at hand."""
        return [str(text) for text in self._workspace.plan.get("data", {}).get("missing", ())]
