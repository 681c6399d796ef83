"""The microdata pages: data, columns, goal, result and release, in the order of the work."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from html import escape
from typing import Any

from nicegui import background_tasks, events, ui

from sfumato.web import components
from sfumato.web.microdata.columns_step import ColumnsStep
from sfumato.web.microdata.data_step import DataStep
from sfumato.web.microdata.estimate import Estimates
from sfumato.web.microdata.goal_step import GoalStep
from sfumato.web.microdata.release_step import ReleaseStep
from sfumato.web.microdata.result.result_step import ResultStep
from sfumato.web.page_layout import Area, Shell, Step
from sfumato.web.projects.changes import TabSync

# Files with more rows take seconds to count.
MANY_ROWS = 100_000
STEPS: dict[str, Callable[[Area], Step]] = {
    "data": DataStep,
    "columns": ColumnsStep,
    "goal": GoalStep,
    "result": ResultStep,
    "release": ReleaseStep,
}


class RowsArea:
    """The five steps; a step is rebuilt from the workspace when it is entered."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.workspace = shell, shell.workspace
        self._shared = TabSync(self.workspace.words, "other_tab", self.refresh)

    @property
    def stale(self) -> bool:
        return self._shared.stale

    def build(self) -> None:
        self._container = self._shared.build()
        components.listen("sf_back", self._back)
        self._build_steps()
        step = self.workspace.step if self.workspace.step in STEPS else "data"
        self._enter(step)
        ui.run_javascript(f"sfArrive('{step}')")
        self.workspace.tabs.join(self._shared.change_elsewhere)

    def go(self, step: str) -> None:
        """Go to a step and add it to the browser history."""
        self._enter(step)
        # Not by the page's own slot: the clicked element may have been removed with the previous step.
        self._container.client.run_javascript(f"sfStep('{step}'); window.scrollTo(0, 0); sfHead()")

    def refresh(self) -> None:
        """Rebuild the current step."""
        self._enter(self._step)
        self._container.client.run_javascript("sfHead()")

    def tell_steps(self) -> None:
        """Update the step list: the current step, completed ones, and the decision in each."""
        for place, (step, (button, mark, summary)) in enumerate(self._steps.items(), 1):
            done = self._done(step)
            button.classes(add="done") if done else button.classes(remove="done")
            button.props('aria-current="step"') if step == self._step else button.props(remove="aria-current")
            mark.set_content("✓" if done else str(place))
            summary.set_content(escape(self._summary(step)))
        loaded = self.workspace.loaded
        self.shell.about.text = loaded.path.name if loaded else self.workspace.words["motto"]

    def _build_steps(self) -> None:
        """Build the buttons of the steps once, so that none is removed during a click."""
        self._steps: dict[str, tuple[Any, Any, Any]] = {}
        with self.shell.steps:
            for step in STEPS:
                button = ui.element("button").classes("sf-step").on("click", lambda step=step: self._choose(step))
                components.with_tooltip(button, self.workspace.words[f"help.{step}"])
                with button:
                    mark = ui.html("", sanitize=False, tag="b").props('aria-hidden="true"')
                    ui.html(escape(self.workspace.words[step]), sanitize=False)
                    self._steps[step] = (button, mark, ui.html("", sanitize=False, tag="span"))

    def _choose(self, step: str) -> None:
        """Mark the current step without rebuilding it, to keep the current input."""
        if step != self._step:
            self.go(step)

    def _done(self, step: str) -> bool:
        run = bool(self.workspace.runs)
        reached = {"data": self.workspace.loaded is not None, "columns": run, "goal": run}
        return reached.get(step, step == "result" and run and not self.workspace.outdated)

    def _summary(self, step: str) -> str:
        """Summarize the decision of a step in a word."""
        workspace = self.workspace
        if workspace.loaded is None:
            return ""
        first = workspace.plan.get("privacy", [{}])[0]
        summaries = {
            "data": workspace.words.count(workspace.loaded.rows),
            "columns": str(len(workspace.loaded.columns)),
            "goal": f"k {first['k']}" if "k" in first else "",
            "result": f"#{workspace.shown}" if workspace.runs else "",
        }
        return summaries.get(step, "")

    def _enter(self, step: str) -> None:
        self._step = self.workspace.step = step
        if not self.stale:  # otherwise the current state is another tab's, which was recorded
            self.workspace.touch()
        self._estimate_ahead()
        self._shared.renew()
        with self._container:
            self._shown = None if step != "data" and self._lacks_data() else STEPS[step](self)
            if self._shown is not None:
                self._shown.build()
        self.tell_steps()

    def _estimate_ahead(self) -> None:
        """Compute the estimate in advance in the columns step and after it; of many rows as soon as they are loaded."""
        loaded = self.workspace.loaded
        if loaded is not None and (
            self._step in ("columns", "goal") or (self._step == "data" and loaded.rows >= MANY_ROWS)
        ):
            plan = deepcopy(self.workspace.plan)
            background_tasks.create(asyncio.to_thread(Estimates(self.workspace).prepare, plan))

    def _back(self, event: events.GenericEventArguments) -> None:
        """Handle the back button, or an address with a step; an address without one changes nothing."""
        if event.args in STEPS:
            self._enter(event.args)
            self._container.client.run_javascript("sfHead()")
        else:
            self._container.client.run_javascript(f"sfStand('{self._step}')")

    def _lacks_data(self) -> bool:
        """Return whether no data is loaded yet; the step then says so."""
        if self.workspace.loaded is not None:
            return False
        with components.head(self.workspace.words[self._step]):
            pass
        with components.card(self.workspace.words["no_data"]):
            components.button(self.workspace.words["data"], lambda: self.go("data")).classes("self-start")
        return True

    def ways(self, back: str | None, onward: str | None) -> None:
        """Build undo and redo, and the buttons for the previous and the next step."""
        words = self.workspace.words
        for name in ("undo", "redo"):
            button = ui.button(icon=name, on_click=lambda name=name: self._take(name)).props("flat round dense")
            components.with_tooltip(button, words[f"tip.{name}"]).props["aria-label"] = words[name]
        if back:
            components.button(words["back"], lambda: self.go(back)).props("flat")
        if onward:
            components.button(words["next"], lambda: self.go(onward)).props("icon-right=arrow_forward")

    def _take(self, name: str) -> None:
        """Undo or redo a change; the table of columns stays, except for the rows of changed columns."""
        undo = self.workspace.undo
        plan = None if self.stale else (undo.back if name == "undo" else undo.forth)(self.workspace.plan)
        if plan is None:
            return
        before = self.workspace.plan
        self.workspace.bring_back(plan)
        if isinstance(self._shown, ColumnsStep) and self._shown.follow(before):
            self.workspace.touch()
            self._estimate_ahead()
            self.tell_steps()
        else:
            self.refresh()
