"""The microdata pages: data, columns, goal, result and release, in the order of the work."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from html import escape
from typing import Any

from nicegui import background_tasks, events, ui

from sfumato.web import components
from sfumato.web.microdata.area import Area, Step
from sfumato.web.microdata.columns.columns_step import ColumnsStep
from sfumato.web.microdata.data_step import DataStep
from sfumato.web.microdata.estimate import Estimates
from sfumato.web.microdata.goal_step import GoalStep
from sfumato.web.microdata.release_step import ReleaseStep
from sfumato.web.microdata.result.result_step import ResultStep
from sfumato.web.page_layout import Shell
from sfumato.web.projects.loaded_data import Loaded
from sfumato.web.tab_sync import SharedRoom

# Rows that take seconds to be counted.
MANY_ROWS = 100_000
STEPS: dict[str, Callable[[Area], Step]] = {
    "data": DataStep,
    "columns": ColumnsStep,
    "goal": GoalStep,
    "result": ResultStep,
    "release": ReleaseStep,
}


class RowsArea:
    """The five steps; a step is built anew when it is entered, from what the workspace holds."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.workspace = shell, shell.workspace
        self._shared = SharedRoom(self.workspace.words, "other_tab", self.refresh)

    @property
    def stale(self) -> bool:
        return self._shared.stale

    def build(self) -> None:
        self._room = self._shared.build()
        components.listen("sf_back", self._back)
        self._build_steps()
        step = self.workspace.step if self.workspace.step in STEPS else "data"
        self._enter(step)
        ui.run_javascript(f"sfArrive('{step}')")
        self.workspace.tabs.join(self._shared.change_elsewhere)

    def go(self, step: str) -> None:
        """Enter a step, as a place in the browser's history."""
        self._enter(step)
        # Not by the page's own place: what was clicked may have been taken away with the step before.
        self._room.client.run_javascript(f"sfStep('{step}'); window.scrollTo(0, 0); sfHead()")

    def refresh(self) -> None:
        """Build the step at hand anew."""
        self._enter(self._step)
        self._room.client.run_javascript("sfHead()")

    def tell_steps(self) -> None:
        """The steps to the left: which is at hand, which are done, and what was decided in each."""
        for place, (step, (button, mark, summary)) in enumerate(self._steps.items(), 1):
            done = self._done(step)
            button.classes(add="done") if done else button.classes(remove="done")
            button.props('aria-current="step"') if step == self._step else button.props(remove="aria-current")
            mark.set_content("✓" if done else str(place))
            summary.set_content(escape(self._summary(step)))
        loaded = self.workspace.loaded
        self.shell.about.text = loaded.path.name if loaded else self.workspace.words["motto"]

    def _build_steps(self) -> None:
        """The buttons of the steps; they stay, so that none is taken away under a finger."""
        self._steps: dict[str, tuple[Any, Any, Any]] = {}
        with self.shell.steps:
            for step in STEPS:
                button = ui.element("button").classes("sf-step").on("click", lambda step=step: self._choose(step))
                components.helped(button, self.workspace.words[f"help.{step}"])
                with button:
                    mark = ui.html("", sanitize=False, tag="b").props('aria-hidden="true"')
                    ui.html(escape(self.workspace.words[step]), sanitize=False)
                    self._steps[step] = (button, mark, ui.html("", sanitize=False, tag="span"))

    def _choose(self, step: str) -> None:
        """The step at hand stays as it is, with what is being typed in it."""
        if step != self._step:
            self.go(step)

    def _done(self, step: str) -> bool:
        reached = {"data": self.workspace.loaded is not None, "columns": bool(self.workspace.runs)}
        reached |= {
            "goal": bool(self.workspace.runs),
            "result": bool(self.workspace.runs) and not self.workspace.outdated,
        }
        return reached.get(step, False)

    def _summary(self, step: str) -> str:
        """What was decided in a step, in a word."""
        workspace = self.workspace
        if workspace.loaded is None:
            return ""
        first = workspace.plan.get("privacy", [{}])[0]
        summaries = {
            "data": workspace.words.count(workspace.loaded.rows),
            "columns": str(len(workspace.loaded.columns)),
        }
        summaries |= {
            "goal": f"k {first['k']}" if "k" in first else "",
            "result": f"#{workspace.shown}" if workspace.runs else "",
        }
        return summaries.get(step, "")

    def _enter(self, step: str) -> None:
        self._step = self.workspace.step = step
        if not self.stale:  # else what stands is another tab's, which has been remembered
            self.workspace.touch()
        self._estimate_ahead()
        self._shared.renew()
        with self._room:
            self._shown = None if step != "data" and self._lacks_data() else STEPS[step](self)
            if self._shown is not None:
                self._shown.build()
        self.tell_steps()

    def _estimate_ahead(self) -> None:
        """Work out what the goal costs while somebody looks at the columns, or leaves them."""
        loaded = self.workspace.loaded
        if loaded is not None and (self._step in ("columns", "goal") or self._waits_for_many(loaded)):
            plan = deepcopy(self.workspace.plan)
            background_tasks.create(asyncio.to_thread(Estimates(self.workspace).prepare, plan))

    def _waits_for_many(self, loaded: Loaded) -> bool:
        """Whether rows are so many that counting them begins as soon as they are there."""
        return self._step == "data" and loaded.rows >= MANY_ROWS

    def _back(self, event: events.GenericEventArguments) -> None:
        """The browser's back button, or an address that names a step; one that names none of them changes nothing."""
        if event.args in STEPS:
            self._enter(event.args)
            self._room.client.run_javascript("sfHead()")
        else:
            self._room.client.run_javascript(f"sfStand('{self._step}')")

    def _lacks_data(self) -> bool:
        """Whether there are no data yet; then the step says so."""
        if self.workspace.loaded is not None:
            return False
        with components.head(self.workspace.words[self._step]):
            pass
        with components.card(self.workspace.words["no_data"]):
            components.button(self.workspace.words["data"], lambda: self.go("data")).classes("self-start")
        return True

    def ways(self, back: str | None, onward: str | None) -> None:
        """Undo and redo, and the buttons that lead to the neighboring steps."""
        words = self.workspace.words
        for name, move in (
            ("undo", self._undo),
            ("redo", self._redo),
        ):
            button = ui.button(icon=name, on_click=move).props("flat round dense")
            components.helped(button, words[f"tip.{name}"]).props["aria-label"] = words[name]
        if back:
            components.button(words["back"], lambda: self.go(back)).props("flat")
        if onward:
            components.button(words["next"], lambda: self.go(onward)).props("icon-right=arrow_forward")

    def _undo(self) -> None:
        self._take(None if self.stale else self.workspace.undo.back(self.workspace.plan))

    def _redo(self) -> None:
        self._take(None if self.stale else self.workspace.undo.forth(self.workspace.plan))

    def _take(self, plan: dict[str, Any] | None) -> None:
        """Bring a plan back; the table of columns stays, but for the rows of those that changed."""
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
