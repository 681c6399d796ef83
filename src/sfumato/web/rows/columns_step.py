"""The step of columns: a role for each with its reason, and for quasi-identifiers a ladder that can be edited."""

from typing import Any

from nicegui import ui

from sfumato.errors import PlanError
from sfumato.hierarchies.ladder import Ladder
from sfumato.microdata.plan.model import ROLES
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.plans import check_paths, read_plan_text
from sfumato.shapes.files import written
from sfumato.web import components
from sfumato.web.loaded_data import ladder_of
from sfumato.web.rows.area import Area
from sfumato.web.visit import Visit

SHOWN_VALUES, EDITABLE_VALUES = 6, 500


def build(area: Area) -> None:
    """The step, for an area."""
    if area.needs_data():
        return
    assert area.visit.loaded is not None
    for column in area.visit.loaded.columns:
        _ColumnCard(area.visit, column.name).build()
    area.ways("data", "goal")


class _ColumnCard:
    """One column: its role, the reason, and its ladder."""

    def __init__(self, visit: Visit, name: str) -> None:
        self.visit, self.name = visit, name

    @property
    def plan(self) -> dict[str, Any]:
        column: dict[str, Any] = self.visit.plan["columns"][self.name]
        return column

    @property
    def _own_file(self) -> str:
        """The name of the file in which a ladder that was edited by hand lies."""
        return f"hierarchy-{list(self.visit.plan['columns']).index(self.name)}.csv"

    def build(self) -> None:
        words = self.visit.words
        assert self.visit.loaded is not None
        with ui.card().classes("sf-card mb-2"):
            with ui.row().classes("items-center w-full"):
                ui.label(self.name).classes("font-bold").style("min-width: 9rem")
                roles = {role: words[role] for role in ROLES}
                ui.select(roles, value=self.plan["role"], on_change=lambda event: self._give_role(event.value)).props(
                    f'dense outlined aria-label="{words["role"]}: {self.name}"'
                ).style("min-width: 17rem")
                ui.label(words.sentence(self.visit.loaded.reasons.get(self.name, ""))).classes("sf-soft")
            self._room = ui.column().classes("w-full")
            self._show_ladder()

    def _give_role(self, role: str) -> None:
        self.visit.touch()
        if role == "quasi-identifier":
            suggestion = self.visit.loaded.suggested["columns"][self.name] if self.visit.loaded else {}
            self.plan["hierarchy"] = suggestion.get("hierarchy", {"type": "any"})
        else:
            for key in ("hierarchy", "min_level", "max_level", "weight"):
                self.plan.pop(key, None)
        self.plan["role"] = role
        self._show_ladder()

    def _show_ladder(self) -> None:
        words = self.visit.words
        self._room.clear()
        if self.plan["role"] != "quasi-identifier":
            return
        with self._room, ui.expansion(words["hierarchy"].format(column=self.name)).classes("w-full"):
            ui.label(words["hierarchy_hint"]).classes("sf-soft")
            text = written(self.plan["hierarchy"], flow=True)
            ui.input(words["settings"], value=text, on_change=lambda event: self._change(str(event.value))).classes(
                "w-full font-mono"
            ).props("debounce=400")
            self._badge = ui.badge("").props('role="status"')
            self._preview = ui.column().classes("w-full")
            components.button(words["edit_table"], self._edit).props("flat dense")
            self._check(self.plan["hierarchy"])

    def _change(self, text: str) -> None:
        self.visit.touch()
        try:
            hierarchy = read_plan_text(text)
        except PlanError:
            self._tell("invalid", self.visit.words["not_yaml"])
            return
        except RefusedError as error:
            self._tell("invalid", error.what)
            return
        if self._check(hierarchy):
            self.plan["hierarchy"] = hierarchy

    def _check(self, hierarchy: Any) -> bool:
        """Show the ladder that settings give, or why they give none."""
        assert self.visit.loaded is not None
        try:
            check_paths({"hierarchy": hierarchy}, {*self.visit.extra, self._own_file})
            ladder, rejected = ladder_of(
                self.visit.loaded.column(self.name), {**self.plan, "hierarchy": hierarchy}, self.visit.place("x").parent
            )
        except Exception as error:  # also one that nobody foresaw: what was said of the text before must not stand
            self._tell("invalid", components.error_text(error, self.visit.words))
            return False
        count = self.visit.words.count(rejected)
        self._tell("valid", self.visit.words["not_accepted"].format(count=count) if rejected else "")
        self._preview.clear()
        with self._preview:
            _show_rows(ladder)
        return True

    def _tell(self, state: str, why: str) -> None:
        self._badge.text = f"{self.visit.words[state]} {why}".strip()
        self._badge.props(f"color={'positive' if state == 'valid' else 'negative'}")

    def _edit(self) -> None:
        """The ladder as a table of text, to be changed by hand."""
        assert self.visit.loaded is not None
        words = self.visit.words
        column = self.visit.loaded.column(self.name)
        ladder, _ = ladder_of(column, self.plan, self.visit.place("x").parent)
        if ladder.size > EDITABLE_VALUES:
            components.alarm(words["too_many"])
            return
        content = "\n".join(";".join(label or "" for label in row) for row in ladder.rows() if row[0] is not None)
        with ui.dialog() as dialog, ui.card().style("width: 48rem; max-width: 95vw"):
            ui.label(words["table_hint"]).classes("sf-soft")
            field = ui.textarea(words["hierarchy"].format(column=self.name), value=content).classes("w-full font-mono")
            field.props("rows=16 outlined")
            with ui.row():
                components.button(words["use"], lambda: self._use(str(field.value), dialog))
                components.button(words["close"], dialog.close).props("flat")
        dialog.open()

    def _use(self, content: str, dialog: ui.dialog) -> None:
        path = self.visit.place(self._own_file)
        path.write_text(content.strip() + "\n", encoding="utf-8")
        hierarchy = {"type": "file", "path": path.name}
        if self._check(hierarchy):
            self.visit.extra[path.name] = path
            self.plan["hierarchy"] = hierarchy
            dialog.close()
            self._show_ladder()


def _show_rows(ladder: Ladder) -> None:
    rows = ladder.rows()[:SHOWN_VALUES]
    head = [str(level) for level in range(ladder.height)]
    components.table(head, ([(label or "", "") for label in row] for row in rows))
