"""The step of the result: run, see what came of it before and after, and what other choices would give."""

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.service.jobs.store import Job
from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.job_progress import run_job
from sfumato.web.rows import result_figures
from sfumato.web.rows.area import Area
from sfumato.web.rows.method_choice import taken_over
from sfumato.web.rows.result_figures import Point

LEVELED = ("optimal", "samarati", "greedy", "exhaustive")
# Colors that can be read on light and on dark ground.
SOFT = {"color": "#8b929e"}
AXIS = {
    "nameLocation": "middle",
    "nameTextStyle": SOFT,
    "axisLabel": SOFT,
    "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
}


def build(area: Area) -> None:
    """The step, for an area."""
    if not area.needs_data():
        _ResultStep(area).build()


class _ResultStep:
    def __init__(self, area: Area) -> None:
        self.area, self.visit = area, area.visit

    def build(self) -> None:
        words = self.visit.words
        with ui.row().classes("items-center"):
            self._button = components.button(words["run"], self._run)
            self._chosen = ui.label(self._levels_text()).props('role="status"')
            self._free = components.button(words["free_levels"], self._let_go).props("flat dense")
        self._free.set_visibility(bool(self._fixed()))
        self._room = ui.column().classes("w-full")
        if self.visit.result is not None:
            with self._room:
                self._show(self.visit.result)
        self.area.ways("goal", "release")

    async def _run(self) -> None:
        self.visit.touch()
        self._button.disable()
        self._room.clear()
        await asyncio.to_thread(self.visit.drop_jobs)
        self.visit.released, self.visit.released_files = deepcopy(self.visit.plan), self.visit.file_times()
        await run_job(self.visit, "anonymize", self.visit.released, self.visit.files(), self._room, self._done)
        self._button.enable()

    async def _done(self, job: Job) -> None:
        self.visit.result = self.visit.output(job) / "result"
        self._show(self.visit.result)

    def _show(self, folder: Path) -> None:
        words = self.visit.words
        with ui.card().classes("sf-card"):
            if self.visit.outdated:
                components.notice(words["earlier"], good=None)
            ui.label(words["holds"]).classes("text-lg font-bold text-positive").props('role="status"')
            components.tiles(result_figures.figures(folder, words))
            components.button(words["see_report"], lambda: _open_report(folder, words)).props("outline")
        self._show_rows(folder)
        why = result_figures.reasons(folder, words)
        if why:
            with ui.card().classes("sf-card"):
                ui.label(words["why"]).classes("font-bold")
                for sentence in why:
                    ui.label(sentence)
        if self.visit.released["method"]["name"] in LEVELED:
            with ui.card().classes("sf-card") as self._chart_card:
                ui.label(words["tradeoff"]).classes("font-bold")
                components.button(words["explore"], self._explore).props("outline")

    def _show_rows(self, folder: Path) -> None:
        """The first rows, before and after, one below the other."""
        words, loaded = self.visit.words, self.visit.loaded
        assert loaded is not None
        names = [column.name for column in loaded.columns]
        lines: list[list[tuple[str, str]]] = []
        for before, after in result_figures.published_rows(folder, loaded.preview, self.visit.released):
            lines.append([(before[name] or "", "") for name in names])
            if after is None:
                lines.append([("→ " + words["withheld"], "masked"), *(("", "masked") for _ in names[1:])])
            else:
                lines.append([("→ " + (after[n] or ""), "changed" if after[n] != before[n] else "") for n in names])
        with ui.card().classes("sf-card"):
            ui.label(words["before_after"]).classes("font-bold")
            ui.label(words["before_after_hint"]).classes("sf-soft")
            if result_figures.divided(folder):
                ui.label(words["divided"]).classes("sf-soft")
            components.table(names, lines)

    async def _explore(self) -> None:
        """Judge every combination of levels, in a job of its own."""
        method = self.visit.plan["method"]
        columns = {name: _free(column) for name, column in self.visit.plan["columns"].items()}
        plan = {**self.visit.plan, "columns": columns, "method": taken_over(method, "exhaustive")}
        await run_job(self.visit, "anonymize", plan, self.visit.files(), self._chart_card, self._explored)

    async def _explored(self, job: Job) -> None:
        loaded, words = self.visit.loaded, self.visit.words
        assert loaded is not None
        points = result_figures.points(self.visit.output(job) / "result", loaded.rows)
        self._points = points
        ui.label(words["tradeoff_hint"]).classes("sf-soft")
        chart = ui.echart(_chart(points, loaded.rows, words), on_point_click=self._clicked)
        chart.classes("w-full h-80").props(f'aria-label="{words["tradeoff"]}" role="img"')
        best = {place: _text(point, loaded.rows, words) for place, point in enumerate(points) if point.best}
        ui.select(best, label=words["node_best"], on_change=lambda event: self._choose(points[event.value])).classes(
            "w-full"
        )

    def _clicked(self, event: Any) -> None:
        kind = [point for point in self._points if point.best == (event.series_index == 1)]
        self._choose(kind[event.data_index])

    def _choose(self, point: Point) -> None:
        """Fix the levels of a node, and allow the rows that it withholds."""
        self.visit.touch()
        for name, level in point.levels.items():
            self.visit.plan["columns"][name] |= {"min_level": level, "max_level": level}
        method = self.visit.plan["method"]
        share = method.get("suppression", 0.0)
        rows = self.visit.loaded.rows if self.visit.loaded else 0
        if not isinstance(share, int | float) or int(share * rows) < point.suppressed_rows:
            method["suppression"] = {"rows": point.suppressed_rows}
        self._chosen.text = self._levels_text()
        self._free.set_visibility(True)

    def _fixed(self) -> dict[str, int]:
        columns = self.visit.plan["columns"]
        return {name: column["min_level"] for name, column in columns.items() if "max_level" in column}

    def _levels_text(self) -> str:
        fixed = self._fixed()
        levels = ", ".join(f"{name} {level}" for name, level in fixed.items())
        return self.visit.words["chosen"].format(levels=levels) if fixed else ""

    def _let_go(self) -> None:
        columns = self.visit.plan["columns"]
        self.visit.plan["columns"] = {name: _free(column) for name, column in columns.items()}
        self._chosen.text = ""
        self._free.set_visibility(False)


def _free(column: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key not in ("min_level", "max_level")}


def _open_report(folder: Path, words: Words) -> None:
    """The report in a frame that may neither run nor load anything."""
    with ui.dialog().props("maximized") as dialog, ui.card().classes("w-full"):
        components.button(words["close"], dialog.close).props("flat")
        frame = ui.element("iframe").classes("sf-report").props('sandbox=""')
        frame.props["title"] = words["see_report"]
        frame.props["srcdoc"] = (folder / "report.html").read_text(encoding="utf-8")
    dialog.open()


def _text(point: Point, rows: int, words: Words) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    lost = words.percent(point.suppressed_rows / max(rows, 1))
    return f"{lost}: {words.figure(f'{point.loss:.4g}')} ({levels})"


def _chart(points: list[Point], rows: int, words: Words) -> dict[str, Any]:
    """Loss against rows withheld; the points that none beats apart."""

    def series(best: bool, name: str, color: str, size: int) -> dict[str, Any]:
        chosen = [point for point in points if point.best == best]
        shares = [round(100 * point.suppressed_rows / max(rows, 1), 3) for point in chosen]
        data = [
            {"value": [share, point.loss], "name": _text(point, rows, words)}
            for share, point in zip(shares, chosen, strict=True)
        ]
        return {"type": "scatter", "name": name, "data": data, "symbolSize": size, "itemStyle": {"color": color}}

    return {
        "tooltip": {"trigger": "item", "formatter": "{b}"},
        "legend": {"top": 0, "left": "center", "orient": "vertical", "textStyle": SOFT},
        "grid": {"left": 60, "right": 20, "top": 60, "bottom": 50},
        "xAxis": {"name": words["node_axis_x"] + " (%)", "nameGap": 28, "min": 0} | AXIS,
        "yAxis": {"name": words["node_axis_y"], "nameGap": 42, "scale": True} | AXIS,
        "series": [
            series(False, words["node_other"], "#9aa5bd", 5),
            series(True, words["node_best"], "#c98a3c", 11),
        ],
    }
