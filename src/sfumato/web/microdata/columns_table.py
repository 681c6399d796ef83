"""The table of columns: values, role with reason, hierarchy; fast for hundreds of columns."""

from html import escape
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Messages
from sfumato.microdata.plan.model import ROLES
from sfumato.web.components import help_of
from sfumato.web.microdata.column_drawings import column_chart, level_labels
from sfumato.web.microdata.transform_choice import ITSELF, said
from sfumato.web.projects.loaded_data import LoadedColumn, hierarchy_of
from sfumato.web.projects.workspace import Workspace

HEADS = ("column", "holds", "role", "why_role", "ladder")
# With more values, a hierarchy is only drawn when it is displayed.
MOST_VALUES = 20_000
# Number of rows drawn at first; a screen shows fewer.
FIRST_ROWS = 13


class ColumnsTable:
    """The rows of the table; the drawing of a column is cached as long as its type and hierarchy stay the same."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.words = workspace, workspace.words
        self._drawings = workspace.drawings

    def html(self) -> str:
        """Return the table with its first rows, as many as are visible at once."""
        words = self.words
        every = f'<input type="checkbox" aria-label="{escape(words["select_all"])}">'
        heads = [f"{help_of(words.get(f'tip.columns.{name}'))}>{escape(words[f'columns.{name}'])}" for name in HEADS]
        head = "".join(f'<th scope="col" role="columnheader"{rest}</th>' for rest in [f">{every}", *heads])
        rows = "".join(self.row(column) for column in self._columns[:FIRST_ROWS])
        # Rows are grids, so that invisible ones cost nothing; their ARIA roles make them a table.
        return (
            f'<template class="sf-roles">{self._options()}</template>'
            f'<table class="sf-columns" role="table" aria-label="{escape(words["columns"])}">'
            f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
        )

    def more(self) -> str:
        """Return the remaining rows, which are added when the first ones are visible."""
        return "".join(self.row(column) for column in self._columns[FIRST_ROWS:])

    def draw_ahead(self) -> None:
        """Draw the content and the hierarchies of the columns in advance."""
        plans = dict(self.workspace.plan["columns"])
        for column in self._columns:
            if (plan := plans.get(column.name)) is not None:  # otherwise other data was loaded meanwhile
                self._histogram(column.read_by(plan), plan)
                self._hierarchy(column.read_by(plan), plan)

    @property
    def _columns(self) -> tuple[LoadedColumn, ...]:
        return self.workspace.loaded.columns if self.workspace.loaded else ()

    def row(self, column: LoadedColumn) -> str:
        """Return the row of a column."""
        words, name = self.words, escape(column.name)
        plan: dict[str, Any] = self.workspace.plan["columns"][column.name]
        column, role = column.read_by(plan), plan["role"]
        why = escape(words.text(self.reason(column.name)))
        cells = [
            f'<input type="checkbox" aria-label="{escape(words["select"].format(column=column.name))}">',
            f'<button class="open">{name}</button>',
            f"{self._histogram(column, plan)}<small>{escape(self.holds(column))}</small>",
            self._roles(column.name, plan),
            f'<span class="why" title="{why}">{why}</span>',
            self._hierarchy(column, plan),
        ]
        content = "".join(f'<td role="cell">{cell}</td>' for cell in cells)
        return f'<tr role="row" data-column="{name}" data-role="{role}" aria-selected="false">{content}</tr>'

    def reason(self, name: str) -> str:
        """Return why a column got its proposed role, in English."""
        return self.workspace.loaded.reasons.get(name, "") if self.workspace.loaded else ""

    def holds(self, column: LoadedColumn) -> str:
        """Return the number of values of a column, and of rows without one."""
        words, count = self.words, len(column.counts)
        values = words["columns.one_value" if count == 1 else "columns.values"].format(count=words.count(count))
        return values + (f", {words.count(column.missing)} {words['missing']}" if column.missing else "")

    def _options(self) -> str:
        """Return the available roles, once for all rows; a row gets them when the pointer approaches it."""
        says = {role: escape(self.words[f"columns.says.{role}"]) for role in ROLES}
        return "".join(
            f'<option value="{role}" data-help="{says[role]}">{escape(short_role(self.words, role))}</option>'
            for role in ROLES
        )

    def _roles(self, name: str, plan: dict[str, Any]) -> str:
        role = plan["role"]
        label, shown = escape(f"{self.words['role']}: {name}"), escape(short_role(self.words, role))
        # The common description of a role comes with the roles; a column with a transform has its own.
        says = help_of(role_says(self.words, plan)) if "publish" in plan else ""
        return f'<select class="{role}" aria-label="{label}"{says}><option value="{role}">{shown}</option></select>'

    def _hierarchy(self, column: LoadedColumn, plan: dict[str, Any]) -> str:
        words, role = self.words, plan["role"]
        operation, _ = said(plan.get("publish"))
        if operation != ITSELF:
            return f'<span class="why">{escape(words[f"publish.{operation}"])}</span>'
        if role != "quasi-identifier":
            return f'<span class="why">{escape(words[f"columns.fate.{role}"])}</span>'
        key = (column.name, repr((plan.get("hierarchy"), plan.get("type"), plan.get("missing"), words.language)))
        if key not in self._drawings:
            self._drawings[key] = self._drawn(column, plan)
        return self._drawings[key]

    def _histogram(self, column: LoadedColumn, plan: dict[str, Any]) -> str:
        kind = plan.get("type", "text")
        key = (column.name, repr((kind, plan.get("missing"))))
        if key not in self._drawings:
            self._drawings[key] = column_chart(column, kind)
        return self._drawings[key]

    def _drawn(self, column: LoadedColumn, plan: dict[str, Any]) -> str:
        if len(column.counts) > MOST_VALUES:
            return f'<span class="why">{escape(str(plan.get("hierarchy", {}).get("type", "")))}</span>'
        try:
            hierarchy, _ = hierarchy_of(column, plan, self.workspace.place("x").parent)
        except (SfumatoError, KeyError):
            return f'<span class="why">{escape(self.words["invalid"])}</span>'
        loaded = self.workspace.loaded
        assert loaded is not None
        return level_labels(column, hierarchy, lambda label: loaded.shown(column.name, label, self.words))


def role_says(words: Messages, plan: dict[str, Any]) -> str:
    """Describe the role of a column, and what happens to the column."""
    operation, _ = said(plan.get("publish"))
    usual = words[f"columns.says.{plan['role']}"]
    return usual if operation == ITSELF else words.get(f"columns.says.{plan['role']}.changed", usual)


def short_role(words: Any, role: str) -> str:
    """Return the name of a role without its meaning."""
    return str(words[role].partition(":")[0])
