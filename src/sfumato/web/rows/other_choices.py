"""Other choices: each combination of levels a point that can be looked at and then released; methods compared."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.delimited import read_lines
from sfumato.service.store.jobs import Job
from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.job_progress import run_job
from sfumato.web.projects.workspace import Run
from sfumato.web.rows import result_figures
from sfumato.web.rows.area import Area
from sfumato.web.rows.method_choice import shared_options
from sfumato.web.rows.result_figures import Point

LEVELED = ("optimal", "samarati", "greedy", "exhaustive", "auto")
# Colors that can be read on light and on dark ground.
SOFT = {"color": "#8b929e"}
AXIS = {
    "nameLocation": "middle",
    "nameTextStyle": SOFT,
    "axisLabel": SOFT,
    "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
}
# The share of rows withheld up to which points are shown at first; the rest is reached by zooming.
USEFUL_SHARE = 0.1


class OtherChoices:
    """What else could be released, explored on demand."""

    def __init__(self, area: Area, run: Run, room: Any, start: Callable[[], Awaitable[None]]) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words
        self.run, self._room, self._start = run, room, start
        self._points: list[Point] = []

    def build(self) -> None:
        """The buttons, and which levels were chosen before."""
        words = self.words
        fixed = fixed_levels(self.workspace.plan)
        if fixed:
            levels = ", ".join(f"{name} {level}" for name, level in fixed.items())
            with ui.row().classes("items-center"):
                ui.label(words["chosen"].format(levels=levels)).props('role="status"')
                components.button(words["free_levels"], self._let_go).props("flat dense")
        with ui.row():
            if self.run.plan["method"]["name"] in LEVELED:
                components.button(words["explore"], self._explore).props("outline")
            components.button(words["compare_methods"], self._compare).props("outline")

    async def _explore(self) -> None:
        """Judge every combination of levels, in a job of its own."""
        plan = {**self.workspace.plan, "columns": free_columns(self.workspace.plan)}
        plan["method"] = shared_options(self.workspace.plan["method"], "exhaustive")
        await run_job(self.workspace, "anonymize", plan, self.workspace.files(), self._room, self._explored)

    async def _explored(self, job: Job) -> None:
        loaded, words = self.workspace.loaded, self.words
        assert loaded is not None
        self._points = result_figures.points(self.workspace.output(job) / "result", loaded.rows)
        ui.label(words["tradeoff_hint"]).classes("sf-soft sf-small")
        chart = ui.echart(_chart(self._points, loaded.rows, words), on_point_click=self._clicked)
        chart.classes("w-full h-80").props(f'aria-label="{words["tradeoff"]}" role="img"')
        best = {place: _text(point, loaded.rows, words) for place, point in enumerate(self._points) if point.best}
        choice = ui.select(
            best, label=words["node_best"], on_change=lambda event: self._look(self._points[event.value])
        )
        choice.classes("w-full").props("dense outlined")
        self._preview = ui.column().classes("w-full")

    def _clicked(self, event: Any) -> None:
        kind = [point for point in self._points if point.best == (event.series_index == 1)]
        self._look(kind[event.data_index])

    def _look(self, point: Point) -> None:
        """Show what a point is; a second click releases it."""
        words, rows = self.words, self.workspace.loaded.rows if self.workspace.loaded else 0
        self._preview.clear()
        with self._preview, ui.element("div").classes("sf-promise").props('role="status"'):
            ui.label(_text(point, rows, words))
            components.button(words["release_point"], lambda: self._release(point))

    async def _release(self, point: Point) -> None:
        """Fix the levels of a node, allow the rows that it withholds, and run."""
        columns, method = self.workspace.plan["columns"], self.workspace.plan["method"]
        for name, level in point.levels.items():
            columns[name] |= {"min_level": level, "max_level": level}
        share = method.get("suppression", 0.0)
        rows = self.workspace.loaded.rows if self.workspace.loaded else 0
        if not isinstance(share, int | float) or int(share * rows) < point.suppressed_rows:
            method["suppression"] = {"rows": point.suppressed_rows}
        self.workspace.touch()
        await self._start()

    def _let_go(self) -> None:
        self.workspace.change_plan({**self.workspace.plan, "columns": free_columns(self.workspace.plan)})
        self.area.refresh()

    async def _compare(self) -> None:
        """Run the usual methods on the same goal, in a job of its own."""
        plan, files = self.workspace.plan, self.workspace.files()
        await run_job(self.workspace, "compare", plan, files, self._room, self._compared)

    async def _compared(self, job: Job) -> None:
        words = self.words
        runs = _runs(self.workspace.output(job) / "result" / "compare.csv")
        losses = [float(run["loss"]) for run in runs if run["loss"]]
        head = [words["method"], words["loss"], words["suppressed"], words["compare_seconds"]]
        lines = [
            [
                (run["method"], ""),
                (words.figure(f"{float(run['loss']):.4f}") if run["loss"] else "–", _mark(run["loss"], losses)),
                (words.count(int(run["suppressed_rows"])) if run["suppressed_rows"] else "–", ""),
                (words.figure(f"{float(run['seconds']):.2f}") if run["seconds"] else "–", ""),
            ]
            for run in runs
        ]
        ui.label(words["compare_hint"]).classes("sf-soft sf-small")
        components.table(head, lines)


def _mark(loss: str, losses: list[float]) -> str:
    return "changed" if loss and float(loss) == min(losses) else ""


def _runs(path: Path) -> list[dict[str, str]]:
    head, *lines = [line.fields for line in read_lines(path)]
    return [dict(zip(head, line, strict=True)) for line in lines]


def fixed_levels(plan: dict[str, Any]) -> dict[str, int]:
    """The levels that were chosen for columns."""
    return {name: column["min_level"] for name, column in plan["columns"].items() if "max_level" in column}


def free_columns(plan: dict[str, Any]) -> dict[str, Any]:
    """The columns of a plan without the levels that were chosen for them."""
    levels = ("min_level", "max_level")
    return {
        name: {key: value for key, value in column.items() if key not in levels}
        for name, column in plan["columns"].items()
    }


def _text(point: Point, rows: int, words: Words) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    lost = words.percent(point.suppressed_rows / max(rows, 1))
    return words["point"].format(lost=lost, loss=words.figure(f"{point.loss:.4g}"), levels=levels)


def _chart(points: list[Point], rows: int, words: Words) -> dict[str, Any]:
    """Loss against rows withheld; the points that none beats apart, the useful part first."""

    def series(best: bool, name: str, color: str, size: int) -> dict[str, Any]:
        chosen = [point for point in points if point.best == best]
        data = [
            {
                "value": [round(100 * point.suppressed_rows / max(rows, 1), 3), point.loss],
                "name": _text(point, rows, words),
            }
            for point in chosen
        ]
        return {"type": "scatter", "name": name, "data": data, "symbolSize": size, "itemStyle": {"color": color}}

    zoom = {"xAxisIndex": 0, "startValue": 0, "endValue": 100 * USEFUL_SHARE, "filterMode": "none"}
    return {
        "tooltip": {"trigger": "item", "formatter": "{b}", "confine": True},
        "legend": {"top": 0, "left": "center", "orient": "vertical", "textStyle": SOFT},
        "grid": {"left": 60, "right": 20, "top": 60, "bottom": 80},
        "dataZoom": [{"type": "slider", "bottom": 8, "height": 18} | zoom, {"type": "inside"} | zoom],
        "xAxis": {"name": words["node_axis_x"] + " (%)", "nameGap": 26, "min": 0} | AXIS,
        "yAxis": {"name": words["node_axis_y"], "nameGap": 42, "scale": True} | AXIS,
        "series": [
            series(False, words["node_other"], "#9aa5bd", 5),
            series(True, words["node_best"], "#c98a3c", 11),
        ],
    }
