"""The columns step: a table with roles, filtered and edited in bulk, and a panel for the selected column."""

import json
from collections.abc import Sequence
from typing import Any

from nicegui import events, ui

from sfumato.microdata.plan.model import ROLES
from sfumato.web import components
from sfumato.web.microdata.column_panel import ColumnPanel
from sfumato.web.microdata.columns_table import ColumnsTable, short_role
from sfumato.web.page_layout import Area

OF_HIERARCHIES = ("hierarchy", "min_level", "max_level", "weight", "importance", "protect")


class ColumnsStep:
    """The table of columns, and the panel of one."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words
        self._table = ColumnsTable(self.workspace)
        self._open: str | None = None

    def build(self) -> None:
        words = self.words
        with components.head(words["columns"], words["columns_about"]):
            self.area.ways("data", "goal")
        with ui.element("div").classes("sf-head"):
            find = ui.input(placeholder=words["find"], value=self.workspace.sought, on_change=self._seek)
            find.props("dense outlined clearable").classes("sf-find")
            find.props["aria-label"] = words["find"]
            ui.html(self._filter(), sanitize=False).classes("sf-filter")
            roles = {role: short_role(words, role) for role in ROLES}
            many = ui.select(roles, label=words["bulk"], on_change=self._change_many)
            components.with_tooltip(many, words["tip.bulk"]).props("dense outlined").classes("w-56")
        with ui.element("div").classes("sf-two"):
            with components.card(classes="sf-scroll"):
                ui.html(self._table.html(), sanitize=False).classes("w-full")
            with components.card(classes="sf-panel") as self._container:
                ui.label(words["panel_hint"]).classes("sf-soft")
        self._container.props["aria-label"] = words["panel"]
        components.listen("sf_open", self._opened)
        components.listen("sf_role", lambda event: self._change_roles([event.args["column"]], event.args["role"]))
        components.listen("sf_filter", lambda event: self._choose_role(str(event.args)))
        components.when_seen(self._container, self._complete)

    def follow(self, before: dict[str, Any]) -> bool:
        """Redraw the columns in which the current plan differs from the previous one; return False for other data."""
        columns, earlier = self.workspace.plan["columns"], before["columns"]
        if columns.keys() != earlier.keys():
            return False
        self._draw_changed([name for name in columns if columns[name] != earlier[name]])
        return True

    def _complete(self) -> None:
        """Add the rows that were not visible at first, and the panel of a column if none was opened since."""
        more = self._table.more()
        if more or self.workspace.sought or self.workspace.filtered:
            ui.run_javascript(f"sfMoreRows({json.dumps(more)})")
        columns = self.workspace.plan["columns"]
        first = next((n for n, c in columns.items() if c["role"] == "quasi-identifier"), None)
        opened = self.workspace.column if self.workspace.column in columns else first
        if opened is not None and self._open is None:
            self._show(opened)

    def _seek(self, event: events.ValueChangeEventArguments[Any]) -> None:
        """Set the search text, which stays when the table is rebuilt."""
        self.workspace.sought = str(event.value or "")

    def _choose_role(self, role: str) -> None:
        """Set the role filter, which stays likewise."""
        self.workspace.filtered = role if role in ROLES else ""

    def _filter(self) -> str:
        marks = {role: " selected" if role == self.workspace.filtered else "" for role in ROLES}
        options = "".join(
            f'<option value="{role}"{mark}>{short_role(self.words, role)}</option>' for role, mark in marks.items()
        )
        every = f'<option value="">{self.words["all_roles"]}</option>'
        return f'<select class="sf-select" aria-label="{self.words["filter"]}">{every}{options}</select>'

    def _opened(self, event: events.GenericEventArguments) -> None:
        name = str(event.args)
        if name == self._open:  # its panel stays, with the current input
            _tell_opened(name, look=True)
        elif name in self.workspace.plan["columns"]:
            self._show(name, look=True)

    def _show(self, name: str, look: bool = False) -> None:
        """Open the panel of a column; `look`: scroll to it."""
        self._open = self.workspace.column = name
        with components.refilled(self._container):
            ColumnPanel(self.workspace, name, lambda: self._redraw([name]), self._change_roles).build()
        _tell_opened(name, look)

    def _redraw(self, names: Sequence[str]) -> None:
        assert self.workspace.loaded is not None
        rows = [(name, self._table.row(self.workspace.loaded.column(name))) for name in names]
        ui.run_javascript(f"sfRows({json.dumps(rows)})")

    def _draw_changed(self, names: Sequence[str]) -> None:
        """Redraw the rows of some columns, and the panel if it belongs to one of them."""
        self._redraw(names)
        if self._open in names:
            self._show(str(self._open))

    async def _change_many(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if event.value is None:
            return
        role = event.value
        event.sender.set_value(None)  # type: ignore[attr-defined]
        names = await ui.run_javascript("sfChecked()", timeout=5.0)
        if names:
            self._change_roles(names, role)
        else:
            components.alarm(self.words["bulk_none"])

    def _change_roles(self, names: Sequence[str], role: str) -> None:
        """Set the role of columns: one choice, undone as one."""
        plan = self.workspace.plan
        changed = [name for name in names if name in plan["columns"]] if role in ROLES else []
        for name in changed:
            give_role(plan["columns"][name], role, self._suggested(name))
        gone = [name for name in changed if role != "sensitive" and drop_models(plan, name)]
        if gone:
            ui.notify(self.words["promises_gone"].format(column=", ".join(gone)))
        self.workspace.touch()
        self._draw_changed(changed)

    def _suggested(self, name: str) -> dict[str, Any]:
        suggested: dict[str, Any] = self.workspace.loaded.suggested["columns"][name] if self.workspace.loaded else {}
        return suggested


def _tell_opened(name: str, look: bool) -> None:
    """Mark the row of a column, and scroll to its panel if requested."""
    ui.run_javascript(f"sfOpened({json.dumps(name)}, {json.dumps(look)})")


def drop_models(plan: dict[str, Any], column: str) -> bool:
    """Remove the models of a column, which only a sensitive one can have; return whether there were any.

    >>> plan = {"privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "illness"}]}
    >>> drop_models(plan, "illness"), plan, drop_models(plan, "illness")
    (True, {'privacy': [{'model': 'k-anonymity', 'k': 5}]}, False)
    """
    about = [
        entry for entry in plan["privacy"] if column in (entry.get("column"), entry.get("subset", {}).get("column"))
    ]
    kept = [entry for entry in plan["privacy"] if entry not in about]
    plan["privacy"] = kept or [{"model": "k-anonymity", "k": 5}]
    return bool(about)


def give_role(column: dict[str, Any], role: str, suggested: dict[str, Any]) -> None:
    """Set another role for a column of a plan; a quasi-identifier gets the suggested hierarchy."""
    if role == "quasi-identifier":
        column["hierarchy"] = suggested.get("hierarchy", {"type": "any"})
    else:
        for key in OF_HIERARCHIES:
            column.pop(key, None)
    column.pop("publish", None)
    if role == suggested.get("role") and "publish" in suggested:
        column["publish"] = suggested["publish"]
    column["role"] = role
