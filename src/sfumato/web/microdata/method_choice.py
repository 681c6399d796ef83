"""The method on the page: which one, the suppression limit, its options, and levels chosen by hand."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.microdata.plan.methods import METHOD, SUPPRESSING
from sfumato.schema.composite import KeySchema, read
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.values import Value
from sfumato.web import components
from sfumato.web.forms import Form, Values
from sfumato.web.page_layout import Area
from sfumato.web.projects.workspace import Workspace

NEVER = "never"
# The methods in the order in which they are offered: the most suitable first.
METHODS = (
    "auto",
    "optimal",
    "local",
    "mondrian",
    "k-optimize",
    "local-suppression",
    "microaggregation",
    "samarati",
    "greedy",
    "exhaustive",
    "safepub",
)
PUBLISHED_ROLES = ("sensitive", "insensitive")
# Maximum suppression limit on the page, in percent; K-Optimize has a price per row instead and may suppress all.
MOST_PERCENT = {"k-optimize": 100}


class MethodChoice:
    """The method, the suppression limit, the options; `changed` is called after each change."""

    def __init__(self, workspace: Workspace, changed: Callable[[], Any]) -> None:
        self.workspace, self.words = workspace, workspace.words
        self._changed = changed
        # Earlier settings of methods, so that trying another one loses nothing.
        self._said: Values = {}

    @property
    def method(self) -> Values:
        method: Values = self.workspace.plan["method"]
        return method

    def build(self) -> None:
        """Build the fields."""
        ui.select(
            {name: self.words[f"method.{name}"] for name in METHODS},
            label=self.words["method"],
            value=self.method["name"],
            on_change=lambda event: self._choose(event.value),
        ).classes("w-full")
        self._container = ui.column().classes("w-full gap-2")
        self._show()

    def missing(self) -> list[str]:
        """Return the labels of required values that are missing."""
        return self._form().missing()

    def _choose(self, name: str) -> None:
        """Change the method; it keeps the options that it supports, and the columns keep the levels that it allows."""
        self.workspace.touch()
        own = self.method | ({"suppression": self._said.get("suppression", 0.0)} if self._priced() else {})
        self._said |= own
        self.workspace.plan["method"] = shared_options(self._said, name)
        for column in quasi_identifiers(self.workspace.plan).values():
            fit_column(column, name, least_group(self.workspace.plan))
        self._show()
        self._changed()

    def _priced(self) -> bool:
        """Return whether the method has a price for each suppressed row, so that the limit has another meaning."""
        return self.method["name"] in MOST_PERCENT

    def _show(self) -> None:
        with components.refilled(self._container):
            ui.label(self.words[f"method.{self.method['name']}.says"]).classes("sf-soft")
            if self.method["name"] in SUPPRESSING:
                self._slider()
            if self.method["name"] == "local-suppression":
                CellCosts(self.words, quasi_identifiers(self.workspace.plan), self._touched).build()
            components.folded(self.words["more"], lambda: self._form().build())

    def _slider(self) -> None:
        words, most = self.words, MOST_PERCENT.get(self.method["name"], 20)
        label = ui.label("").props('role="status"')
        slider = components.held(ui.slider(min=0, max=most, step=0.5, value=min(100 * self._share(), most)))
        slider.props["aria-label"] = words["suppression"].format(share="").strip(" :")
        components.with_tooltip(slider, words["tip.suppression"]).props("label")

        def tell() -> None:
            share = words.figure(f"{100 * self._share():g} %")
            label.text = components.joined(words["suppression"].format(share=share))

        def suppress(percent: float) -> None:
            self.workspace.touch()
            self.method["suppression"] = round(percent / 100, 4)
            tell()
            self._changed()

        slider.on_value_change(lambda event: suppress(event.value))
        if self._priced():
            ui.label(words["priced"]).classes("sf-soft")
        tell()

    def _share(self) -> float:
        """Return the suppression limit as a proportion; a selected node has a number of rows instead."""
        suppression = self.method.get("suppression", defaults(self.method["name"]).suppression.share)
        rows = max(self.workspace.loaded.rows, 1) if self.workspace.loaded else 1
        return float(suppression) if isinstance(suppression, int | float) else suppression["rows"] / rows

    def _form(self) -> Form:
        name = self.method["name"]
        default = defaults(name)
        keys = option_keys(name)
        columns = self.workspace.plan["columns"]
        offers = {"class": [name for name, column in columns.items() if column["role"] in PUBLISHED_ROLES]}
        start = {key: getattr(default, key) for key in keys if key != "class"}
        return Form(self.words, name, keys, self.method, self._touched, offers, start)

    def _touched(self) -> None:
        self.workspace.touch()
        self._changed()


def quasi_identifiers(plan: Values) -> dict[str, Values]:
    """Return the quasi-identifiers of a plan."""
    return {name: column for name, column in plan["columns"].items() if column["role"] == "quasi-identifier"}


def least_group(plan: Values) -> int:
    """Return the requested k, or the smallest possible one."""
    return max((int(entry["k"]) for entry in plan["privacy"] if entry.get("k")), default=2)


def fit_column(column: Values, method: str, k: int) -> None:
    """Remove from a quasi-identifier what a method does not support, and add what it needs.

    >>> column = {"role": "quasi-identifier", "importance": 3, "max_level": 2}
    >>> fit_column(column, "microaggregation", 5)
    >>> column
    {'role': 'quasi-identifier', 'max_level': 2, 'publish': {'microaggregate': 5}}
    """
    if method in ("mondrian", "k-optimize", "local-suppression") and "max_level" in column:
        column.pop("max_level", None)
        column.pop("min_level", None)
    if method in ("mondrian", "local-suppression"):
        column.pop("min_level", None)
    if method != "local-suppression":
        column.pop("importance", None)
    column.pop("publish", None)
    if method == "microaggregation":
        column["publish"] = {"microaggregate": k}


def option_keys(name: str) -> dict[str, KeySchema]:
    """Return the keys of a method except the suppression limit, which has a slider."""
    return {key: spec for key, spec in METHOD.variants[name].keys.items() if key != "suppression"}


def defaults(name: str) -> Any:
    """Return a method with default options."""
    return read(METHOD, {"name": name}, "method")


def shared_options(method: Values, name: str) -> Values:
    """Return the options of a method that another one supports as well.

    >>> shared_options({"name": "optimal", "loss": "height", "time_limit": 5, "suppression": 0.1}, "samarati")
    {'name': 'samarati', 'loss': 'height', 'time_limit': 5, 'suppression': 0.1}
    >>> shared_options({"name": "optimal", "loss": "height", "suppression": 0.1}, "k-optimize")
    {'name': 'k-optimize'}
    """
    keys = METHOD.variants[name].keys
    kept = {key: value for key, value in method.items() if key in keys and _fits(keys[key], value)}
    if name in MOST_PERCENT:
        kept.pop("suppression", None)  # its meaning differs: every suppressed row has a price
    if "loss" not in kept:
        kept.pop("class", None)
    return {"name": name, **kept}


def _fits(key: KeySchema, value: Any) -> bool:
    try:
        key.shape.read(value, "", PlanIssues())
    except Refused:
        return False
    return True


class CellCosts(Value):
    """A number and a switch for each quasi-identifier; `changed` is called after each change."""

    words: Messages
    columns: Mapping[str, Values]
    changed: Callable[[], Any]

    def build(self) -> None:
        """Build the fields in the current container."""
        ui.label(self.words["cells.costs"]).classes("font-bold mt-2")
        ui.label(self.words["cells.costs.says"]).classes("sf-soft sf-small")
        with ui.element("div").classes("sf-fields"):
            for name, column in self.columns.items():
                self._field(name, column)

    def _field(self, name: str, column: Values) -> None:
        never = column.get("importance") == NEVER
        with ui.element("div"):
            cost = ui.number(
                self.words["cells.cost"].format(column=name), value=1 if never else column.get("importance", 1), min=0
            ).props("dense debounce=400")
            cost.set_enabled(not never)
            label = self.words["cells.never"].format(column=name)
            switch = components.held(ui.checkbox(self.words["cells.never.short"], value=never)).props("dense")
            switch.props["aria-label"] = label

        def take() -> None:
            cost.set_enabled(not switch.value)
            set_importance(column, NEVER if switch.value else cost.value)
            self.changed()

        components.with_tooltip(cost, self.words["tip.importance"])
        cost.on_value_change(lambda _: take())
        switch.on_value_change(lambda _: take())


def set_importance(column: Values, importance: Any) -> None:
    """Set the cost of suppressing a value of a column; the default of 1 is omitted.

    >>> column = {"importance": 5}
    >>> set_importance(column, 1.0), column
    (None, {})
    """
    column.pop("importance", None)
    if importance not in (None, 1):
        column["importance"] = importance


LIMITS = ("min_level", "max_level")


def _is_chosen(column: Mapping[str, Any]) -> bool:
    return "max_level" in column and column.get("min_level", 0) == column["max_level"]


def fixed_levels(plan: Mapping[str, Any]) -> dict[str, int]:
    """Return the levels that are fixed for columns; limits that leave a choice are ignored.

    >>> fixed_levels({"columns": {"age": {"min_level": 2, "max_level": 2}, "sex": {"max_level": 1}, "zip": {}}})
    {'age': 2}
    """
    return {name: column["max_level"] for name, column in plan["columns"].items() if _is_chosen(column)}


def free_columns(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a plan without their fixed levels.

    >>> free_columns({"columns": {"age": {"min_level": 2, "max_level": 2}, "sex": {"max_level": 1}}})
    {'age': {}, 'sex': {'max_level': 1}}
    """
    return {
        name: {key: value for key, value in column.items() if key not in LIMITS or not _is_chosen(column)}
        for name, column in plan["columns"].items()
    }


def show_fixed_levels(area: Area, key: str) -> None:
    """Show the fixed levels with a button to release them; nothing if there are none."""
    workspace = area.workspace
    fixed = fixed_levels(workspace.plan)

    def let_go() -> None:
        workspace.change_plan({**workspace.plan, "columns": free_columns(workspace.plan)})
        area.refresh()

    if fixed:
        levels = ", ".join(f"{name} {level}" for name, level in fixed.items())
        with ui.row().classes("items-center"):
            ui.label(workspace.words[key].format(levels=levels)).props('role="status"')
            components.button(workspace.words["free_levels"], let_go).props("flat dense")
