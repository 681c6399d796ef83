"""The step of the result: may this be published? What is promised, what is not, and what each column kept."""

from copy import deepcopy
from html import escape
from typing import Any

from nicegui import ui

from sfumato.report.page.plots import legend, meter, meters
from sfumato.report.release import sections
from sfumato.service.store.jobs import Job
from sfumato.web import components
from sfumato.web.job_progress import follow, start_job
from sfumato.web.projects.workspace import Run
from sfumato.web.rows import result_figures
from sfumato.web.rows.area import Area
from sfumato.web.rows.other_choices import OtherChoices
from sfumato.web.rows.result_figures import KeptColumn


class ResultStep:
    """What came of the last run, or the button that starts one."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        words, run = self.words, self.workspace.run
        with components.head(words["result"], self._number(run)):
            self._runs()
            self._button = components.button(words["run_again" if run else "run"], self.start)
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
        """Earlier runs, to be looked at again and compared."""
        if len(self.workspace.runs) < 2:
            return
        numbers = {run.number: f"#{run.number}" for run in self.workspace.runs}
        toggle = ui.toggle(numbers, value=self.workspace.run and self.workspace.run.number, on_change=self._look_at)
        toggle.props("dense no-caps").props["aria-label"] = self.words["runs"]

    def _look_at(self, event: Any) -> None:
        self.workspace.shown = int(event.value)
        self.area.refresh()

    async def start(self) -> None:
        """Start a run with the plan that stands now."""
        self._button.disable()
        plan = deepcopy(self.workspace.plan)
        job = await start_job(self.workspace, "anonymize", plan, self.workspace.files())
        self._button.enable()
        if job is not None:
            self.workspace.pending = (job, plan)
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
        dossier, report = result_figures.dossier(run.folder, words), result_figures.report_of(run.folder)
        answer = sections.verdict(dossier).replace(escape(words["report.holds"]), escape(words["may_publish"]))
        ui.html(answer, sanitize=False).classes("w-full").props('role="status"')
        if lost := sections.lost(dossier):
            ui.html(lost, sanitize=False).classes("w-full").props('role="status"')
        ui.html(sections.limits(dossier), sanitize=False).classes("w-full")
        components.tiles(sections.figures(dossier))
        with ui.element("div").classes("sf-halves"):
            self._kept(result_figures.kept_columns(report))
            with components.card(words["other_choices"]) as card:
                OtherChoices(self.area, run, card, self.start).build()
        self._compare_runs()
        with ui.element("div").classes("sf-halves"):
            with components.card(words["report.risk"]):
                ui.html(sections.risk_table(dossier), sanitize=False).classes("sf-table").props('tabindex="0"')
            self._reasons(run)
        self._rows(run)

    def _kept(self, columns: list[KeptColumn]) -> None:
        """What each column kept; a click shows its distribution before and after."""
        words = self.words
        with components.card(words["kept"]):
            ui.html(legend(words), sanitize=False)
            for column in columns:
                after = words["kept_values"].format(before=words.count(column.before), after=words.count(column.after))
                note = words["kept_lost"] if column.lost else after
                bar = meter(words, column.share) if column.share is not None else ""
                line = (
                    f'<div class="sf-kept"><span class="name"><b>{escape(column.name)}</b></span><div>{bar}</div>'
                    f'<span class="sf-soft sf-small">{escape(note)}</span></div>'
                )
                if len(column.shares) > 1:
                    line = f"<details><summary>{line}</summary>{meters(words, column.shares)}</details>"
                ui.html(line, sanitize=False).classes("w-full")

    def _compare_runs(self) -> None:
        """The runs side by side."""
        words, runs = self.words, [run for run in self.workspace.runs if (run.folder / "report.json").exists()]
        if len(runs) < 2:
            return
        reports = [result_figures.report_of(run.folder) for run in runs]
        rows = [
            [(words["method"].partition(" (")[0], ""), *((report["method"], "") for report in reports)],
            [(words["published"], ""), *((words.count(report["published_rows"]), "") for report in reports)],
            [(words["suppressed"], ""), *((words.count(report["suppressed_rows"]), "") for report in reports)],
            [(words["highest"], ""), *((words.percent(r["risk"]["after"]["highest"]), "") for r in reports)],
            [
                (words["loss"], ""),
                *((f"{words.amount(r['loss']['value'])} ({r['loss']['name']})", "") for r in reports),
            ],
        ]
        with components.card(words["runs"]):
            components.table(["", *(f"#{run.number}" for run in runs)], rows)

    def _reasons(self, run: Run) -> None:
        why = result_figures.reasons(run.folder, self.words)
        if why:
            with components.card(self.words["why"]):
                for sentence in why:
                    ui.label(sentence)

    def _rows(self, run: Run) -> None:
        """The first rows, before and after, one below the other."""
        words, loaded = self.words, self.workspace.loaded
        assert loaded is not None
        names = [column.name for column in loaded.columns]
        lines: list[list[tuple[str, str]]] = []
        for before, after in result_figures.published_rows(run.folder, loaded.preview, run.plan):
            lines.append([(before[name] or "", "") for name in names])
            if after is None:
                lines.append([("→ " + words["withheld"], "masked"), *(("", "masked") for _ in names[1:])])
            else:
                lines.append([("→ " + (after[n] or ""), "changed" if after[n] != before[n] else "") for n in names])
        with components.card(words["before_after"]):
            ui.label(words["before_after_hint"]).classes("sf-soft sf-small")
            if result_figures.divided(run.folder):
                ui.label(words["divided"]).classes("sf-soft sf-small")
            components.table(names, lines)
