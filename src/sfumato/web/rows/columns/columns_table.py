"""The table of columns: a row for each with what it holds, its role and why, and its ladder; quick for hundreds."""

from html import escape
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.microdata.plan.model import ROLES
from sfumato.web.projects.loaded_data import Column, ladder_of
from sfumato.web.projects.workspace import Workspace
from sfumato.web.rows.columns import column_figures
from sfumato.web.rows.columns.publish_choice import STARTS, chosen

HEADS = ("column", "holds", "distinct", "role", "why_role", "ladder")
# Beyond so many values, a ladder is not drawn before it is looked at.
MOST_VALUES = 20_000


class ColumnsTable:
    """The rows of the table; what was drawn of a ladder is kept as long as its hierarchy stays."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.words = workspace, workspace.words
        self._ladders: dict[tuple[str, str], str] = {}

    def html(self) -> str:
        """The whole table."""
        words, loaded = self.words, self.workspace.loaded
        assert loaded is not None
        every = f'<input type="checkbox" aria-label="{escape(words["select_all"])}">'
        head = "".join(f'<th scope="col">{escape(words[f"columns.{name}"])}</th>' for name in HEADS)
        rows = "".join(self.row(column) for column in loaded.columns)
        label = escape(words["columns"])
        return (
            f'<table class="sf-columns" aria-label="{label}"><thead><tr><th>{every}</th>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )

    def row(self, column: Column) -> str:
        """The row of a column."""
        words, name = self.words, escape(column.name)
        plan: dict[str, Any] = self.workspace.plan["columns"][column.name]
        role = plan["role"]
        distinct = words.count(len(column.counts))
        missing = f", {words.count(column.missing)} {words['missing']}" if column.missing else ""
        reason = self.workspace.loaded.reasons.get(column.name, "") if self.workspace.loaded else ""
        check = f'<input type="checkbox" aria-label="{escape(words["select"].format(column=column.name))}">'
        cells = [
            check,
            f'<button class="open">{name}</button>',
            column_figures.drawn(column, plan.get("type", "text")),
            escape(distinct + missing),
            self._roles(column.name, role),
            f'<span class="why" title="{escape(words.sentence(reason))}">{escape(words.sentence(reason))}</span>',
            self._ladder(column, plan),
        ]
        content = "".join(f"<td>{cell}</td>" for cell in cells)
        return f'<tr data-column="{name}" data-role="{role}" aria-selected="false">{content}</tr>'

    def _roles(self, name: str, role: str) -> str:
        words = self.words
        options = "".join(
            f'<option value="{entry}"{" selected" if entry == role else ""}>{escape(short_role(words, entry))}</option>'
            for entry in ROLES
        )
        label = escape(f"{words['role']}: {name}")
        return f'<select class="{role}" aria-label="{label}">{options}</select>'

    def _ladder(self, column: Column, plan: dict[str, Any]) -> str:
        words, role = self.words, plan["role"]
        operation, _ = chosen(plan.get("publish"))
        if operation in STARTS:
            return f'<span class="why">{escape(words[f"publish.{operation}"])}</span>'
        if role != "quasi-identifier":
            return f'<span class="why">{escape(words[f"columns.fate.{role}"])}</span>'
        key = (column.name, repr((plan.get("hierarchy"), plan.get("type"))))
        if key not in self._ladders:
            self._ladders[key] = self._drawn(column, plan)
        return self._ladders[key]

    def _drawn(self, column: Column, plan: dict[str, Any]) -> str:
        if len(column.counts) > MOST_VALUES:
            return f'<span class="why">{escape(str(plan.get("hierarchy", {}).get("type", "")))}</span>'
        try:
            ladder, _ = ladder_of(column, plan, self.workspace.place("x").parent)
        except (SfumatoError, KeyError):
            return f'<span class="why">{escape(self.words["invalid"])}</span>'
        return column_figures.rungs(column, ladder)


def short_role(words: Any, role: str) -> str:
    """The name of a role without what it means."""
    return str(words[role].partition(":")[0])
