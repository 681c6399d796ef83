"""The area of rows: data, columns, goal, result, release, in the order of the work."""

from collections.abc import Callable

from nicegui import ui

from sfumato.web import components
from sfumato.web.rows import columns_step, data_step, goal_step, release_step, result_step
from sfumato.web.rows.area import Area
from sfumato.web.visit import Visit

STEPS = ("data", "columns", "goal", "result", "release")


class RowsArea:
    """The five steps; a step is built anew when it is entered, from what the visit holds."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self._builders: dict[str, Callable[[Area], None]] = {
            "data": data_step.build,
            "columns": columns_step.build,
            "goal": goal_step.build,
            "result": result_step.build,
            "release": release_step.build,
        }
        self._panels: dict[str, ui.tab_panel] = {}

    def build(self) -> None:
        words = self.visit.words
        ui.label(words["motto"]).classes("sf-soft")
        with ui.tabs(on_change=lambda event: self._entered(str(event.value))).props(
            "no-caps inline-label mobile-arrows outside-arrows align=left"
        ) as self._tabs:
            for place, step in enumerate(STEPS, 1):
                ui.tab(step, label=f"{place} {words[step]}")
        with ui.tab_panels(self._tabs, value="data", animated=False).classes("w-full bg-transparent"):
            for step in STEPS:
                with ui.tab_panel(step).classes("px-0") as self._panels[step]:
                    if step == "data":
                        self._builders[step](self)

    def go(self, step: str) -> None:
        """Enter a step."""
        self._tabs.set_value(step)

    def refresh(self, step: str) -> None:
        """Build a step anew."""
        panel = self._panels[step]
        panel.clear()
        with panel:
            self._builders[step](self)

    def needs_data(self) -> bool:
        """Whether there are no data yet; then the step says so."""
        if self.visit.loaded is not None:
            return False
        ui.label(self.visit.words["no_data"])
        components.button(self.visit.words["data"], lambda: self.go("data"))
        return True

    def ways(self, back: str | None, onward: str | None) -> None:
        """The buttons that lead to the neighboring steps."""
        with ui.row().classes("mt-4"):
            if back:
                components.button(self.visit.words["back"], lambda: self.go(back)).props("flat")
            if onward:
                components.button(self.visit.words["next"], lambda: self.go(onward))

    def _entered(self, step: str) -> None:
        self.visit.touch()
        if step != "data":
            self.refresh(step)


def build(visit: Visit) -> None:
    """The area for a visit."""
    RowsArea(visit).build()
