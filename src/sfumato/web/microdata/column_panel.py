"""The panel of one column: its values, its role, and the validated hierarchy of a quasi-identifier."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from html import escape
from typing import Any

from nicegui import events, ui

from sfumato.errors import PlanError, SfumatoError
from sfumato.formats import CSV
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection.families import families_of
from sfumato.hierarchies.types import NUMBER_TYPES, ColumnType, canonical
from sfumato.microdata.plan.model import HIDDEN_ROLES, ROLES, ColumnPlan
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.files import written
from sfumato.service.jobs.plans import check_paths, read_plan_text
from sfumato.service.problems import RefusedError
from sfumato.web import components
from sfumato.web.forms import Form
from sfumato.web.microdata.column_drawings import hierarchy_html, hierarchy_lines
from sfumato.web.microdata.columns_table import role_says, short_role
from sfumato.web.microdata.hierarchy_editor import KINDS, HierarchyEditor, start_hierarchy
from sfumato.web.microdata.transform_choice import ColumnState, PublishChoice
from sfumato.web.projects.loaded_data import LoadedColumn, hierarchy_of
from sfumato.web.projects.workspace import Workspace

# Further settings of a hierarchy: the weight of its loss, and the levels that may be published.
HIERARCHY_KEYS = {key: record_of(ColumnPlan).keys[key] for key in ("weight", "min_level", "max_level")}
CODE_KEYS = {"missing": record_of(ColumnPlan).keys["missing"]}
EDITABLE_VALUES, MOST_BYTES, SHOWN_VALUES = 5000, 5_000_000, 8


class ColumnPanel:
    """The panel of a column; `changed` is called after each change, `decide` with columns and their role."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        changed: Callable[[], Any],
        decide: Callable[[Sequence[str], str], Any] = lambda _names, _role: None,
    ) -> None:
        self.workspace, self.words, self.name = workspace, workspace.words, name
        self._reason = workspace.loaded.reasons.get(name, "") if workspace.loaded else ""
        self._changed, self._decide = changed, decide
        self._text: Any = None

    @property
    def plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = self.workspace.plan["columns"][self.name]
        return plan

    @property
    def column(self) -> LoadedColumn:
        assert self.workspace.loaded is not None
        return self.workspace.loaded.column(self.name).read_by(self.plan)

    def build(self) -> None:
        """Build the panel in the current container."""
        words, role = self.words, self.plan["role"]
        with ui.element("div").classes("sf-head"):
            ui.html(f"<h3>{escape(self.name)}</h3>", sanitize=False).classes("sf-title")
            chip = f'<span class="chip {role}">{escape(short_role(words, role))}</span>'
            ui.html(chip, sanitize=False)
        self._says = ui.label(role_says(words, self.plan)).classes("sf-soft sf-small")
        if self._reason:
            ui.label(f"{words['proposed']}: {words.text(self._reason)}").classes("sf-soft sf-small")
        if len(family := self.family()) > 1:
            self._decide_together(family)
        if role == "quasi-identifier":
            self._hierarchy()
        else:
            self._values()
        PublishChoice(words, self.plan, self._surroundings(), self._published_otherwise).build()
        Form(words, "column", CODE_KEYS, self.plan, self._coded_otherwise).build()

    def family(self) -> list[str]:
        """Return the undecided columns that belong together with this one; empty if it is decided."""
        columns = self.workspace.plan["columns"]
        open_columns = [name for name, entry in columns.items() if entry["role"] == "undecided"]
        loaded = self.workspace.loaded
        values = {name: loaded.column(name).counts if loaded else {} for name in open_columns}
        return next((family for family in families_of(values) if self.name in family), [])

    def _decide_together(self, family: list[str]) -> None:
        """Offer one role for all columns of a family."""
        roles = {role: short_role(self.words, role) for role in ROLES if role != "undecided"}
        label = self.words["family"].format(count=len(family), columns=", ".join(family[:SHOWN_VALUES]))
        choice = ui.select(roles, label=label, on_change=lambda event: self._decide(family, str(event.value)))
        choice.props("dense outlined").classes("w-full")

    def _surroundings(self) -> ColumnState:
        """Return the properties that decide which operations the column can have."""
        columns = self.workspace.plan["columns"]
        roles = {plan["role"] for plan in columns.values()}
        shown = [n for n, c in columns.items() if n != self.name and c["role"] not in HIDDEN_ROLES]
        numeric = self._fits("decimal") or self.plan.get("type") in NUMBER_TYPES  # with or without a unit
        return ColumnState(
            self.plan["role"], numeric, self._fits("date"), "person" in roles, "household" in roles, shown
        )

    def _fits(self, kind: ColumnType) -> bool:
        return canonical(list(self.column.counts), kind)[1] == []

    def _published_otherwise(self) -> None:
        self._says.set_text(role_says(self.words, self.plan))
        self._touched()

    def _coded_otherwise(self) -> None:
        """Apply other missing value codes: the hierarchy is that of the remaining values."""
        if self.plan["role"] == "quasi-identifier":
            self._check(self.plan["hierarchy"])
        self._touched()

    def _touched(self) -> None:
        self.workspace.touch()
        self._changed()

    def _values(self) -> None:
        """Show the most frequent values, for a column without a hierarchy."""
        order = sorted(self.column.counts.items(), key=lambda entry: -entry[1])[:SHOWN_VALUES]
        loaded = self.workspace.loaded
        assert loaded is not None
        lines = [(0, loaded.shown(self.name, value, self.words), rows) for value, rows in order]
        ui.html(hierarchy_html(lines, self.words), sanitize=False)
        rest = len(self.column.counts) - len(order)
        if rest > 0:
            ui.label(self.words["report.others"].format(count=self.words.count(rest))).classes("sf-soft sf-small")

    def _hierarchy(self) -> None:
        words = self.words
        kinds = {kind: words[f"hierarchy.kind.{kind}"] for kind in KINDS}
        settings = self.plan.setdefault("hierarchy", {"type": "any"})
        self._kind = ui.select(
            kinds,
            label=words["hierarchy.kind"],
            value=settings["type"],
            on_change=lambda event: self._choose(event.value),
        )
        components.with_tooltip(self._kind, words["tip.hierarchy.kind"]).classes("w-full").props("dense outlined")
        self._fields = ui.column().classes("w-full gap-2")
        self._badge = ui.html("", sanitize=False).props('role="status"')
        self._preview = ui.html("", sanitize=False).classes("w-full")
        with ui.row().classes("gap-1"):
            components.button(words["edit_table"], self._edit).props("flat dense")
            components.button(words["hierarchy.export"], self._export).props("flat dense")
        components.folded(words["hierarchy.more"], self._more)
        components.listen("sf_settings", lambda event: self._typed(event.args["column"], str(event.args["text"])))
        self._edit_fields()
        self._check(settings)

    def _more(self) -> None:
        """Build the less common settings of a hierarchy: its file, weight and levels, its settings as text."""
        words, settings = self.words, self.plan["hierarchy"]
        components.upload(words["hierarchy.import"], self._import, MOST_BYTES, words, CSV.uploads)
        Form(words, "ladder", HIERARCHY_KEYS, self.plan, self._touched, defaults={"weight": 1, "min_level": 0}).build()
        self._text = ui.input(words["settings"], value=written(settings, flow=True))
        self._text.classes("w-full font-mono sf-settings").props["data-column"] = self.name

    def _edit_fields(self) -> None:
        self._fields.clear()
        editor = HierarchyEditor(self.workspace, self.column, deepcopy(self.plan["hierarchy"]), self._take)
        editor.place_in(self._fields)

    def _choose(self, kind: str) -> None:
        if kind == self.plan["hierarchy"]["type"]:
            return
        if kind == "file":
            self._edit()
            return
        assert self.workspace.loaded is not None
        suggested = self.workspace.loaded.suggested["columns"][self.name].get("hierarchy", {})
        self._take(start_hierarchy(kind, self.column, suggested))
        self._edit_fields()

    def _take(self, settings: Any) -> None:
        """Apply other settings if they give a valid hierarchy, otherwise show why not; the fields stay unchanged."""
        if not self._check(settings):
            return
        self.plan["hierarchy"] = deepcopy(settings)
        for key in ("min_level", "max_level"):
            self.plan.pop(key, None)
        if self._text is not None:
            self._text.set_value(written(settings, flow=True))
        self._kind.set_value(settings["type"])
        self._touched()

    def _typed(self, column: str, text: str) -> None:
        """Apply settings that were entered in plan notation."""
        if column != self.name:
            return  # they were entered for the previously opened column
        try:
            settings = read_plan_text(text)
        except (PlanError, RefusedError) as error:
            plan = isinstance(error, PlanError)
            self._tell("invalid", self.words["not_yaml"] if plan else components.error_text(error, self.words))
            return
        if self._check(settings) and settings != self.plan["hierarchy"]:
            self.plan["hierarchy"] = settings
            self._kind.set_value(settings["type"])
            self.workspace.touch()
            self._edit_fields()
            self._changed()

    def _bound(self, settings: Any) -> tuple[Hierarchy, int]:
        check_paths(settings, self.workspace.extra, HIERARCHY)
        return hierarchy_of(self.column, {**self.plan, "hierarchy": settings}, self.workspace.place("x").parent)

    def _why(self, error: Exception, settings: Any) -> str:
        """Return why settings give no hierarchy, without the internal name of a stored text."""
        name = settings.get("path") if isinstance(settings, dict) else None
        if not isinstance(error, SfumatoError) or name not in self.workspace.extra:
            return components.error_text(error, self.words)
        return self.words.text(str(error).replace(f" of {name}", "").replace(f"the hierarchy file {name}: ", ""))

    def _check(self, settings: Any) -> bool:
        """Show the hierarchy of some settings, or why there is none."""
        words = self.words
        try:
            hierarchy, rejected = self._bound(settings)
        except Exception as error:  # including unexpected errors, because an earlier message must not remain
            self._tell("invalid", self._why(error, settings))
            return False
        facts = [words["hierarchy.facts"].format(levels=hierarchy.height, values=words.count(hierarchy.size))]
        facts += [words["not_accepted"].format(count=words.count(rejected))] if rejected else []
        self._tell("valid", " ".join(facts))
        lines = hierarchy_lines(hierarchy, self.column)
        shown = [(depth, self._shown(label), rows) for depth, label, rows in lines]
        self._preview.set_content(hierarchy_html(shown, words))
        return True

    def _shown(self, label: str) -> str:
        """Return a label for display; the file contains the label itself."""
        loaded = self.workspace.loaded
        return loaded.shown(self.name, label, self.words) if loaded else label

    def _tell(self, state: str, why: str) -> None:
        tone, sign = ("good", "✓") if state == "valid" else ("bad", "✗")
        text = escape(f"{sign} {self.words[state]}: {why}")
        self._badge.set_content(f'<span style="color:var(--{tone})" class="sf-small">{text}</span>')

    def _table(self) -> str | None:
        """Return the hierarchy as a text table, or None if it is too long for editing."""
        hierarchy, _ = self._bound(self.plan["hierarchy"])
        if hierarchy.size > EDITABLE_VALUES:
            components.alarm(self.words["too_many"])
            return None
        rows = [row for row in hierarchy.rows() if row[0] is not None]
        return "\n".join(";".join(label or "" for label in row) for row in rows)

    def _edit(self) -> None:
        """Show the hierarchy as an editable text table."""
        words, content = self.words, self._table()
        if content is None:
            return
        with ui.dialog() as dialog, ui.card().style("width: 48rem; max-width: 95vw"):
            ui.label(words["table_hint"]).classes("sf-soft")
            field = ui.textarea(words["hierarchy"].format(column=self.name), value=content).classes("w-full font-mono")
            field.props("rows=16 outlined")
            with ui.row():
                components.button(words["use"], lambda: self._use(str(field.value), dialog))
                components.button(words["close"], dialog.close).props("flat")
        dialog.open()

    def _use(self, content: str, dialog: Any = None) -> None:
        path = self.workspace.keep_text("hierarchy", content.strip() + "\n")
        settings = {"type": "file", "path": path.name}
        self._take(settings)
        if self.plan["hierarchy"] == settings:
            if dialog is not None:
                dialog.close()
            self._edit_fields()

    def _export(self) -> None:
        content = self._table()
        if content is not None:
            ui.download.content(content + "\n", f"{self.name}.csv")

    async def _import(self, event: events.UploadEventArguments) -> None:
        self._use((await event.file.read()).decode("utf-8-sig", "replace"))
