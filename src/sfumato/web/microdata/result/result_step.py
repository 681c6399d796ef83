"""The result step: whether the release may be published, what its columns preserved, its rows, earlier runs."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from html import escape
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Messages
from sfumato.report.html_page import folding
from sfumato.report.plots import Pair, histogram, legend, meter, short_names
from sfumato.report.release import sections
from sfumato.report.release.columns import coded_columns
from sfumato.report.release.measures import forcing_sentences
from sfumato.service.jobs.store import Job
from sfumato.service.problems import RefusedError
from sfumato.values import replace
from sfumato.web import components
from sfumato.web.job_progress import follow, start_job
from sfumato.web.microdata.result import result_figures
from sfumato.web.microdata.result.alternatives import OtherChoices
from sfumato.web.microdata.result.result_figures import KeptColumn, RowPair, kept_columns, published_pairs, report_of
from sfumato.web.microdata.result.risk_view import AttackView, show_risks
from sfumato.web.page_layout import Area
from sfumato.web.projects.workspace import Run, Workspace


def compare_runs(workspace: Workspace) -> None:
    """Build a table with a column for each run, a line for each metric and for what each column preserved."""
    words, runs = workspace.words, [run for run in workspace.runs if (run.folder / "report.json").exists()]
    reports = [report_of(run.folder) for run in runs]
    promises = [", ".join(_short_model(entry, words) for entry in run.plan["privacy"]) for run in runs]
    rows = [
        (words["promises"], promises),
        (words["method"].partition(" (")[0], [report["method"] for report in reports]),
        (words["published"], [words.count(report["published_rows"]) for report in reports]),
        (words["suppressed"], [words.count(report["suppressed_rows"]) for report in reports]),
        (words["highest"], [words.percent(report["risk"]["after"]["highest"]) for report in reports]),
        (words["risk.average"], [words.percent(report["risk"]["after"]["average"]) for report in reports]),
        (words["loss"], [_mean_loss(words, report) for report in reports]),
    ]
    kept = [{column.name: column.share for column in kept_columns(report)} for report in reports]
    for name in dict.fromkeys(name for shares in kept for name in shares):
        shares = ["–" if (share := side.get(name)) is None else words.percent(share) for side in kept]
        rows.append((words["kept_of"].format(column=name), shares))
    with components.card(words["runs"]):
        if len(runs) < 2:
            ui.label(words["runs_hint"]).classes("sf-soft sf-small")
        lines = [[(title, "") for title in (head, *figures)] for head, figures in rows]
        components.table(["", *(f"#{run.number}" for run in runs)], lines)


def _mean_loss(words: Messages, report: dict[str, Any]) -> str:
    """Return the mean loss of a cell, on the common scale of all runs."""
    mean = report.get("mean_loss")
    return "–" if mean is None else words.percent(mean)


def _short_model(entry: dict[str, object], words: Messages) -> str:
    """Return a short text for a guarantee.

    >>> from sfumato.localization.messages import words_in
    >>> [_short_model({"model": "l-diversity", "l": 2, "column": "illness"}, words_in(own)) for own in ("en", "de")]
    ['l-diversity 2 (illness)', 'l-Diversität 2 (illness)']
    """
    number = next((entry[key] for key in ("k", "l", "t", "threshold") if key in entry), "")
    column = f" ({entry['column']})" if "column" in entry else ""
    model = words[f"model.{entry['model']}"].partition(":")[0]
    return f"{model} {number}{column}".strip()


def show_kept_columns(workspace: Workspace, report: dict[str, Any]) -> None:
    """Build the card of columns, and why values had to be generalized."""
    words = workspace.words
    with components.card():
        with ui.element("div").classes("sf-head"):
            ui.html(f"<h3>{escape(words['kept'])}</h3>", sanitize=False).classes("sf-title")
            ui.label(words["kept_hint"]).classes("sf-soft sf-small")
            ui.html(legend(words), sanitize=False)
        lines = "".join(kept_line(words, _shown(workspace, column)) for column in kept_columns(report))
        ui.html(lines, sanitize=False).classes("w-full")
    coded = "".join(coded_columns(words, report))
    if coded:
        with components.card(words["coded"]):
            ui.html(coded, sanitize=False).classes("w-full sf-prose sf-table sf-wrapped").props('tabindex="0"')
    why = list(forcing_sentences(words, report["risk"], report["levels"]))
    if why:
        with components.card(words["why"]):
            for sentence in why:
                ui.label(sentence)


def _shown(workspace: Workspace, column: KeptColumn) -> KeptColumn:
    """Return a column with its values formatted for display."""
    loaded, words = workspace.loaded, workspace.words
    if loaded is None:
        return column
    pairs = (replace(pair, name=loaded.shown(column.name, pair.name, words)) for pair in column.shares)
    return replace(column, shares=tuple(pairs))


def kept_line(words: Messages, column: KeptColumn) -> str:
    """Return the line of a column; expanded, it shows a large chart of its distribution."""
    key = "kept_one_value" if column.after == 1 else "kept_values"
    values = words[key].format(before=words.count(column.before), after=words.count(column.after))
    note = words["kept_lost"] if column.lost else values
    bar = meter(words, column.share) if column.share is not None else ""
    head = (
        f'<div class="sf-kept"><b class="name">{escape(column.name)}</b>{pair_bars(column.shares)}<div>{bar}</div>'
        f'<span class="sf-soft sf-small">{escape(note)}</span></div>'
    )
    if len(column.shares) < 2:
        return head
    about = f"{column.name}: {words['report.distributions']}"
    drawn = histogram(words, short_names(column.shares), "", about)
    return f"<details><summary>{head}</summary>{drawn}</details>"


def pair_bars(pairs: tuple[Pair, ...], width: float = 132.0, height: float = 26.0) -> str:
    """Draw a small chart of a distribution before and after: two paths of adjacent bars."""
    top = max((share for pair in pairs for share in (pair.before, pair.after) if share), default=1.0)
    step = width / max(len(pairs), 4)
    paths = []
    for kind, left in (("before", 0.0), ("after", 0.42)):
        shown = "".join(
            f"M{(place + left) * step:.4g} {height:g}v-{share / top * height:.4g}h{step * 0.38:.3g}"
            f"v{share / top * height:.4g}z"
            for place, pair in enumerate(pairs)
            if (share := getattr(pair, kind))
        )
        paths.append(f'<path class="{kind}" d="{shown}"/>')
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg class="sf-pair" {box} aria-hidden="true">{"".join(paths)}</svg>'


# Limits: rows searched, and row pairs and columns shown.
MOST_ROWS, SHOWN_ROWS, SHOWN_COLUMNS = 2000, 15, 60
KINDS = ("all", "changed", "withheld")


class ResultStep:
    """The result of the last run, or the button that starts one."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        words, run = self.words, self.workspace.run
        number = "" if run is None else words["run_number"].format(number=run.number)
        with components.head(words["result"], number):
            self._runs()
            self._button = components.button(words["run_again" if run else "run"], self.start).classes("sf-start")
            if run:
                self._button.props("outline")
            self.area.ways("goal", "release" if run else None)
        self._container = ui.column().classes("w-full gap-4")
        with self._container:
            if self.workspace.pending is not None:
                self._follow()
            elif run is not None:
                self._show(run)
            else:
                with components.card():
                    ui.label(words["not_run"]).classes("sf-soft")

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

        A running job with the same plan is shown instead. One with another plan is cancelled, because no page would
        show it.
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
            with components.refilled(self._container):
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
        self._answer_container = ui.column().classes("w-full gap-4")
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
        with components.refilled(self._answer_container):
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
            "kept": lambda: show_kept_columns(self.workspace, report),
            "risk": lambda: show_risks(result_figures.dossier(run.folder, self.words), report),
            "attacks": lambda: AttackView(self.workspace, run, lambda: self._answer(run)).build(),
            "choices": lambda: OtherChoices(self.area, run, self.start).build(),
            "rows": lambda: RowsView(self.workspace, run).build(),
            "runs": lambda: compare_runs(self.workspace),
        }

    def _enter(self, build: Callable[[], Any]) -> None:
        self.workspace.touch()
        with components.refilled(self._view):
            build()


class RowsView:
    """The first rows in original and published form."""

    def __init__(self, workspace: Workspace, run: Run) -> None:
        self.workspace, self.words, self.run = workspace, workspace.words, run
        self._pairs: list[RowPair] = []
        self._text, self._kind = "", "all"

    def build(self) -> None:
        """Build the fields, and the rows when they are loaded."""
        words = self.words
        with components.card(words["before_after"]):
            with ui.element("div").classes("sf-head"):
                find = ui.input(placeholder=words["find_rows"]).props("dense outlined clearable debounce=200")
                find.props["aria-label"] = words["find_rows"]
                find.classes("w-72").on_value_change(lambda event: self._look_for(text=str(event.value or "")))
                kinds = {kind: words[f"rows.{kind}"] for kind in KINDS}
                toggle = ui.toggle(kinds, value="all", on_change=lambda event: self._look_for(kind=str(event.value)))
                toggle.classes("sf-small-toggle").props("dense no-caps")
            self._note = ui.label(words["reading"]).classes("sf-soft sf-small").props('role="status"')
            self._divided = ui.label(words["divided"]).classes("sf-soft sf-small")
            self._divided.set_visibility(False)
            self._container = ui.column().classes("w-full")
        ui.timer(0.01, self._read, once=True)

    async def _read(self) -> None:
        """Load the rows shown at first, then all searchable ones, which takes seconds for wide files."""
        loaded = self.workspace.loaded
        assert loaded is not None
        for limit in (SHOWN_ROWS, MOST_ROWS):
            asked = (loaded.path, loaded.read, self.run.folder, self.run.plan, limit)
            try:
                self._pairs, divided = await self.workspace.aside(published_pairs, *asked)
            except (SfumatoError, RefusedError) as error:
                self._note.text = components.error_text(error, self.words)
                return
            self._divided.set_visibility(divided)
            self._show()
            if len(self._pairs) < limit:
                return

    def _look_for(self, text: str | None = None, kind: str | None = None) -> None:
        self._text = self._text if text is None else text
        self._kind = kind or self._kind
        self._show()

    def _show(self) -> None:
        words = self.words
        sought = {self._text, self._text.replace(words["decimal"], ".")}  # a number in display format, too
        found = [pair for pair in self._pairs if any(fits(pair, text, self._kind) for text in sought)]
        counts = {"found": words.count(len(found)), "rows": words.count(len(self._pairs))}
        self._note.text = words["rows.found"].format(**counts)
        with components.refilled(self._container):
            self._table(found[:SHOWN_ROWS])

    def _table(self, pairs: list[RowPair]) -> None:
        loaded, words = self.workspace.loaded, self.words
        assert loaded is not None
        names = list(pairs[0][0])[:SHOWN_COLUMNS] if pairs else []
        lines: list[list[tuple[str, Any]]] = []
        for before, after in pairs:
            lines.append([(loaded.shown(name, before[name] or "", words), "raw") for name in names])
            if after is None:
                lines.append([("→ " + words["withheld"], "masked"), *(("", "masked") for _ in names[1:])])
            else:
                marks = ["changed" if after[name] != before[name] else "same" for name in names]
                texts = [loaded.shown(name, after[name] or "", words) for name in names]
                lines.append([("→ " + text, mark) for text, mark in zip(texts, marks, strict=True)])
        if names:
            components.table(names, lines)


def fits(pair: RowPair, text: str, kind: str) -> bool:
    """Return whether a row is of a kind, and contains a text before or after.

    >>> fits(({"age": "44"}, {"age": "40-49"}), "40-", "changed"), fits(({"age": "44"}, None), "", "changed")
    (True, False)
    """
    before, after = pair
    if (kind == "withheld") != (after is None) and kind != "all":
        return False
    if kind == "changed" and after == before:
        return False
    texts = [*before.values(), *((after or {}).values())]
    return not text or any(text.lower() in (entry or "").lower() for entry in texts)
