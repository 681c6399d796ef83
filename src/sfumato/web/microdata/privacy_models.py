"""The privacy models of a plan on the page: a card with fields for each, and a list to add more."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.formats import UPLOADS
from sfumato.localization.messages import Messages, words_on_persons
from sfumato.microdata.models.registry import SHAPES
from sfumato.web import components
from sfumato.web.forms import EntryList, Form, Values
from sfumato.web.projects.workspace import Workspace

MOST_VALUES = 500
POPULATION_PREFIX = "population-"


def names_persons(plan: Mapping[str, Any]) -> bool:
    """Return whether a column of a plan names persons, so that models count persons instead of rows."""
    return any(column["role"] == "person" for column in plan["columns"].values())


def goal_words(words: Messages, plan: Mapping[str, Any]) -> Messages:
    """Return the texts for the goal of a plan, about persons if models count persons.

    >>> from sfumato.localization.messages import words_in
    >>> goal_words(words_in(), {"columns": {"id": {"role": "person"}}})["k-anonymity.k"]
    'Minimum class size in persons (k)'
    """
    return words_on_persons(words.language) if names_persons(plan) else words


class PrivacyModels:
    """The list of privacy models; `changed` is called after each change."""

    def __init__(self, workspace: Workspace, changed: Callable[[], Any]) -> None:
        self.workspace = workspace
        self._changed = changed

    @property
    def words(self) -> Messages:
        return goal_words(self.workspace.words, self.workspace.plan)

    @property
    def entries(self) -> list[Values]:
        entries: list[Values] = self.workspace.plan["privacy"]
        return entries

    def build(self) -> None:
        """Build the cards, and the list for adding one."""
        offered = {name: partial(self._start, name) for name in self._offered()}
        self._list = EntryList(self.words, "model", offered, lambda: self.entries, self._fields, self._touched)
        self._list.build()
        if not self._sensitive():
            ui.label(self.words["no_sensitive"]).classes("sf-soft")

    def missing(self) -> list[str]:
        """Return the labels of required values that are missing."""
        return [word for entry in self.entries for word in self._form(entry).missing()]

    def _sensitive(self) -> list[str]:
        return [name for name, column in self.workspace.plan["columns"].items() if column["role"] == "sensitive"]

    def _offered(self) -> list[str]:
        """Return the models that can be added; those about a sensitive column need one."""
        judging = [name for name, shape in SHAPES.items() if {"column", "subset"} & set(shape.keys)]
        return [name for name in SHAPES if name not in judging or self._sensitive()]

    def _start(self, name: str) -> Values:
        keys = SHAPES[name].keys
        column = {"column": self._sensitive()[0]} if "column" in keys else {}
        subset = {"subset": self._subset(self._sensitive()[0])} if "subset" in keys else {}
        model: Any = SHAPES[name].make
        return dict(model.start) | column | subset

    def _fields(self, entry: Values) -> None:
        self._form(entry).build()
        if "population" in SHAPES[entry["model"]].keys:
            self._population(entry)
        if "subset" in SHAPES[entry["model"]].keys:
            self._subset_fields(entry)

    def _form(self, entry: Values) -> Form:
        special = ("population", "subset", "subsets")
        keys = {key: spec for key, spec in SHAPES[entry["model"]].keys.items() if key not in special}
        return Form(self.words, entry["model"], keys, entry, self._touched, {"column": self._sensitive()})

    def _touched(self) -> None:
        self.workspace.touch()
        self._list.told()
        self._changed()

    def _population(self, entry: Values) -> None:
        """Build the upload of the population table, which is stored next to the data."""
        shown = ui.label(entry.get("population", "").removeprefix(POPULATION_PREFIX))

        async def take(event: events.UploadEventArguments) -> None:
            path = self.workspace.place(POPULATION_PREFIX + Path(event.file.name).name)
            await event.file.save(path)
            self.workspace.extra[path.name] = path
            entry["population"] = path.name
            shown.text = event.file.name
            self._touched()

        components.upload(
            self.words["population"], take, self.workspace.pool.settings.upload_bytes, self.words, UPLOADS
        )

    def _subset(self, column: str) -> Values:
        assert self.workspace.loaded is not None
        values = self.workspace.loaded.column(column).values
        return {"column": column, "value": values[0] if values else ""}

    def _subset_fields(self, entry: Values) -> None:
        """Build the fields for the column that marks the subset, and its value."""
        loaded = self.workspace.loaded
        assert loaded is not None
        subset: Values = entry["subset"]

        def choose(column: str) -> None:
            entry["subset"] = self._subset(column)
            self._list.show()
            self._touched()

        def mark(value: str) -> None:
            subset["value"] = value
            self._touched()

        with ui.element("div").classes("sf-fields"):
            ui.select(
                self._sensitive(),
                label=self.words["subset.column"],
                value=subset["column"],
                on_change=lambda event: choose(event.value),
            )
            values = list(loaded.column(subset["column"]).values[:MOST_VALUES])
            ui.select(
                values,
                label=self.words["subset.value"],
                value=subset["value"] if subset["value"] in values else None,
                on_change=lambda event: mark(event.value),
            )
