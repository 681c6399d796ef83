"""The cost of suppressing a cell of each column, for local suppression; some columns are never suppressed."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages
from sfumato.web import components
from sfumato.web.forms import Values

NEVER = "never"


@dataclass(frozen=True, slots=True)
class CellCosts:
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
