"""The result step: whether the release may be published, its guarantees and limits, and views of the result."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from nicegui import ui

from sfumato.report.page.html_page import folding
from sfumato.report.release.sections import sections
from sfumato.service.store.jobs import Job
from sfumato.web import components
from sfumato.web.job_progress import follow, start_job
from sfumato.web.microdata.area import Area
from sfumato.web.microdata.result import result_figures, risk_view, runs_view, utility_view
from sfumato.web.microdata.result.alternatives_view import OtherChoices
from sfumato.web.microdata.result.attack_view import AttackView
from sfumato.web.microdata.result.rows_view import RowsView
from sfumato.web.projects.workspace import Run


class ResultStep:
    """The result of the last run, or the button that starts one."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        words, run = self.words, self.workspace.run
        with components.head(words["result"], self._number(run)):
            self._runs()
            self._button = components.button(words["run_again" if run else "run"], self.start).classes("sf-start")
            if run:
                self._button.props("outline")
            self.area.ways("goal", "release" if run else None)
        self._room = ui.column().classes("w-full gap-4")
        with self._room:
            if self.workspace.pending is not None:
                self._follow()
            elif run is not None:
                self._show(run)
            else:
                with components.card():
                    ui.label(words["not_run"]).classes("sf-soft")

    def _number(self, run: Run | None) -> str:
        return "" if run is None else self.words["run_number"].format(number=run.number)

    def _runs(self) -> None:
        """Show earlier runs for display and comparison."""
        if len(self.workspace.runs) < 2:
            return
        numbers = {run.number: f"#{run.number}" for run in self.workspace.runs}
        toggle = ui.toggle(numbers, value=self.workspace.run and self.workspace.run.number, on_change=self._look_at)
        toggle.classes("sf-small-toggle").props("dense no-caps").props["aria-label"] = self.words["runs"]

    def _look_at(self, event: Any) -> None:
        self.workspace.shown = int(event.value)
        self.area.refresh()

    async def start(self) -> None:
        """Start a run with the current plan, unless another tab made the plan and it was not shown here.

        A running job with the same plan is shown instead; one with another plan is cancelled, because nobody could see
        it.
        """
        if self.area.stale:
            return
        self._button.disable()  # until the run has begun, another click starts no second one
        plan, pending = deepcopy(self.workspace.plan), self.workspace.pending
        if pending is None or pending[1] != plan:
            if pending is not None:
                self.workspace.pending = None
                await asyncio.to_thread(self.workspace.drop_job, pending[0].id)
            job = await start_job(self.workspace, "anonymize", plan, self.workspace.files())
            self.workspace.pending = None if job is None else (job, plan)
        self._button.enable()
        if self.workspace.pending is not None:
            self._room.clear()
            with self._room:
                self._follow()

    def _follow(self) -> None:
        assert self.workspace.pending is not None
        follow(self.workspace, self.workspace.pending[0], self._done, self._failed)

    async def _done(self, job: Job) -> None:
        pending, self.workspace.pending = self.workspace.pending, None
        if pending is not None:
            self.workspace.add_run(pending[1], job)
        self.area.refresh()

    def _failed(self) -> None:
        self.workspace.pending = None

    def _show(self, run: Run) -> None:
        words = self.words
        if self.workspace.outdated:
            components.notice(words["earlier"], good=None)
        if not (run.folder / "report.json").exists():
            components.notice(words["run_gone"], good=None)
            return
        self._answer_room = ui.column().classes("w-full gap-4")
        self._answer(run)
        views = self._views(run)
        tabs = ui.tabs()
        tabs.set_value("kept")
        tabs.on_value_change(lambda event: self._enter(views[event.value]))
        with tabs.classes("sf-tabs").props("no-caps dense align=left inline-label outside-arrows mobile-arrows"):
            for name in views:
                components.with_tooltip(ui.tab(name, words[f"view.{name}"]), words[f"tip.view.{name}"])
        self._view = ui.column().classes("w-full gap-4")
        self._enter(views["kept"])

    def _answer(self, run: Run) -> None:
        """Show whether the release may be published: guarantees, limits, and information loss as metrics."""
        dossier = result_figures.dossier(run.folder, self.words)
        answer = sections.verdict(dossier)
        self._answer_room.clear()
        with self._answer_room:
            with ui.element("div").classes("sf-halves sf-answer"):
                ui.html(answer, sanitize=False).classes("w-full").props('role="status"')
                ui.html(self._folding(sections.limits(dossier)), sanitize=False).classes("w-full")
            for warning in filter(None, (sections.inference_risks(dossier), sections.lost(dossier))):
                ui.html(self._folding(warning), sanitize=False).classes("w-full").props('role="status"')
            components.tiles(sections.metrics(dossier), helped=result_figures.tile_helps(dossier.words))

    def _folding(self, box: str) -> str:
        """Return a collapsible box with its heading and the number of its entries."""
        points = box.count("<li") + box.count("<p")
        return folding(box, self.words["report.points"].format(count=self.words.count(points)))

    def _views(self, run: Run) -> dict[str, Callable[[], Any]]:
        """Return the views of a run, each built when it is displayed."""
        report = result_figures.report_of(run.folder)
        return {
            "kept": lambda: utility_view.build(self.workspace, report),
            "risk": lambda: risk_view.build(result_figures.dossier(run.folder, self.words), report),
            "attacks": lambda: AttackView(self.workspace, run, lambda: self._answer(run)).build(),
            "choices": lambda: OtherChoices(self.area, run, self.start).build(),
            "rows": lambda: RowsView(self.workspace, run).build(),
            "runs": lambda: runs_view.build(self.workspace),
        }

    def _enter(self, build: Callable[[], Any]) -> None:
        self.workspace.touch()
        self._view.clear()
        with self._view:
            build()
