"""Alternatives: combinations of levels as frontier and lattice, viewed and released; comparison of methods."""

import re
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.delimited.records import read_lines
from sfumato.errors import SfumatoError
from sfumato.localization.messages import Messages
from sfumato.report.plots import meter
from sfumato.service.jobs.store import Job
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError
from sfumato.web import components
from sfumato.web.job_progress import run_job, watched
from sfumato.web.microdata.column_drawings import example_labels
from sfumato.web.microdata.method_choice import fixed_levels, free_columns, shared_options, show_fixed_levels
from sfumato.web.microdata.result import result_figures
from sfumato.web.microdata.result.result_figures import Point, tried_changes
from sfumato.web.page_layout import Area
from sfumato.web.projects.loaded_data import hierarchy_of
from sfumato.web.projects.workspace import Run

# Colors that are legible on light and on dark background.
SOFT = {"color": "#8b929e"}
OTHER, BEST, HERE = "#9aa5bd", "#c98a3c", "#3f9d6d"
# Index of the series of the current release.
HERE_SERIES = 2
AXIS = {
    "nameLocation": "middle",
    "nameTextStyle": SOFT,
    "axisLabel": SOFT,
    "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
}
# Points up to this proportion of suppressed rows are shown at first; zooming shows the rest.
USEFUL_SHARE = 0.1


def point_text(point: Point, rows: int, words: Messages) -> str:
    """Describe a point: suppressed rows, loss, and levels."""
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    lost = words.percent(point.suppressed_rows / max(rows, 1))
    return words["point"].format(lost=lost, loss=words.percent(point.loss), levels=levels or words["node_here"])


def frontier_chart(points: list[Point], rows: int, words: Messages, here: Point | None = None) -> dict[str, Any]:
    """Return the chart of loss against suppressed rows, with the Pareto front and the current release."""

    def series(chosen: list[Point], name: str, color: str, size: int) -> dict[str, Any]:
        data = [
            {
                "value": [round(100 * point.suppressed_rows / max(rows, 1), 3), round(100 * point.loss, 3)],
                "name": point_text(point, rows, words),
            }
            for point in chosen
        ]
        return {"type": "scatter", "name": name, "data": data, "symbolSize": size, "itemStyle": {"color": color}}

    # The browser formats the numbers on axes in the language of the page.
    written = f"(value) => Number(value).toLocaleString('{words.language}')"
    axis = AXIS | {"axisLabel": {**SOFT, ":formatter": written}}
    zoom = {
        ":labelFormatter": written,
        "xAxisIndex": 0,
        "startValue": 0,
        "endValue": 100 * USEFUL_SHARE,
        "filterMode": "none",
    }
    return {
        "tooltip": {"trigger": "item", "formatter": "{b}", "confine": True, "extraCssText": "white-space: normal"},
        "grid": {"left": 60, "right": 20, "top": 20, "bottom": 80},
        "dataZoom": [{"type": "slider", "bottom": 8, "height": 18} | zoom, {"type": "inside"} | zoom],
        "xAxis": {"name": words["node_axis_x"] + " (%)", "nameGap": 26, "min": 0} | axis,
        "yAxis": {"name": words["node_axis_y"] + " (%)", "nameGap": 42, "scale": True} | axis,
        "series": [
            series([point for point in points if not point.best], words["node_other"], OTHER, 5),
            series([point for point in points if point.best], words["node_best"], BEST, 11),
            {**series([here] if here else [], words["node_here"], HERE, 15), "symbol": "diamond"},
        ],
    }


def frontier_legend(words: Messages) -> str:
    """Return the legend, next to the chart, because inside a narrow chart it would cover points."""
    marks = ((OTHER, words["node_other"]), (BEST, words["node_best"]), (HERE, words["node_here"]))
    return "".join(f'<i style="background: {color}"></i>{escape(says)} ' for color, says in marks)


WIDTH, LAYER, RADIUS, MARGIN = 720, 44, 7, 26
# Limits: nodes shown per layer, those with the least loss; nodes up to which lines are drawn.
MOST_IN_LAYER, MOST_LINED = 16, 160


def shown_nodes(points: Sequence[Point]) -> list[list[int]]:
    """Return the indices of the points in each layer, from fine to coarse; of many those with the least loss.

    >>> shown_nodes([Point({"a": 0, "b": 1}, 1.0, 0), Point({"a": 0, "b": 0}, 0.5, 3), Point({"a": 1, "b": 0}, 0.7, 0)])
    [[1], [2, 0]]
    """
    layers: dict[int, list[int]] = {}
    for place, point in enumerate(points):
        layers.setdefault(sum(point.levels.values()), []).append(place)
    least = [sorted(layers[height], key=lambda place: points[place].loss) for height in sorted(layers)]
    return [layer[:MOST_IN_LAYER] for layer in least]


def lattice_svg(points: Sequence[Point], texts: Sequence[str], budget: int, levels: dict[str, int], about: str) -> str:
    """Draw the lattice as SVG.

    Args:
        texts: The tooltip of each point.
        budget: The maximum number of suppressed rows: nodes that need no more satisfy the models.
        levels: The released levels.
    """
    layers = shown_nodes(points)
    spots = _spots(layers)
    lines = _lattice_lines(points, layers, spots) if len(spots) <= MOST_LINED else ""
    circles = "".join(
        _circle(points[place], texts[place], place, spots[place], points[place].suppressed_rows <= budget, levels)
        for layer in layers
        for place in layer
    )
    height = LAYER * len(layers) + MARGIN
    box = f'viewBox="0 0 {WIDTH} {height}" role="group" aria-label="{escape(about)}"'
    return f'<svg class="sf-lattice" {box}>{lines}{circles}</svg>'


def _spots(layers: list[list[int]]) -> dict[int, tuple[float, float]]:
    """Return the position of each circle: coarse nodes at the top, each layer centered."""
    spots: dict[int, tuple[float, float]] = {}
    for depth, layer in enumerate(layers):
        step = min((WIDTH - 2 * MARGIN) / max(len(layer), 1), 60.0)
        left = WIDTH / 2 - step * (len(layer) - 1) / 2
        for at, place in enumerate(layer):
            spots[place] = (left + at * step, MARGIN + LAYER * (len(layers) - 1 - depth))
    return spots


def _lattice_lines(points: Sequence[Point], layers: list[list[int]], spots: dict[int, tuple[float, float]]) -> str:
    """Draw a line between nodes that differ by one level in one column."""
    parts = []
    for finer, coarser in pairwise(layers):
        for low in finer:
            for high in coarser:
                steps = [points[high].levels[name] - level for name, level in points[low].levels.items()]
                if min(steps) == 0 and max(steps) == 1:
                    (x1, y1), (x2, y2) = spots[low], spots[high]
                    parts.append(f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}")
    return f'<path class="line" d="{"".join(parts)}"/>'


def _circle(point: Point, text: str, place: int, spot: tuple[float, float], holds: bool, levels: dict[str, int]) -> str:
    kind = " ".join(["holds" if holds else "fails", *(["best"] if point.best else [])])
    now = " now" if levels and point.levels == levels else ""
    reach = 0 if point.best or now else -1
    return (
        f'<circle class="{kind}{now}" cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="{RADIUS}" tabindex="{reach}" '
        f'role="button" data-node="{place}" aria-label="{escape(text)}" data-help="{escape(text)}"/>'
    )


PLACE_IN_PLAN, SENTENCE_END = re.compile(r"^[a-z_]+(?:\[\d+\])?(?:\.[^:]+)?: "), re.compile(r"(?<=[.?]) (?=[A-ZÄÖÜ])")
LEVELED = ("optimal", "samarati", "greedy", "exhaustive", "auto")
# The method that releases selected levels if the plan leaves the method open.
FIXED = "optimal"
# Time limit for all nodes; if there are more, those evaluated by then are shown.
EXPLORING_SECONDS = 20
# Nodes are compared on the scale of the release's own metrics, whatever its method minimized.
MEAN_LOSS = {"loss": "loss-metric", "aggregate": "mean", "time_limit": EXPLORING_SECONDS}


class OtherChoices:
    """Alternative releases, explored on demand."""

    def __init__(self, area: Area, run: Run, start: Callable[[], Awaitable[None]]) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words
        self.run, self._start = run, start
        self._points: list[Point] = []
        self._seen: Point | None = None

    def build(self) -> None:
        """Build a card for levels, if the method selects some, and one for methods."""
        words = self.words
        if self.run.plan["method"]["name"] in LEVELED:
            with components.card(words["levels_card"]) as self._levels_container:
                ui.label(words["levels_card.says"]).classes("sf-soft sf-small")
                self._chosen_before()
                components.button(words["explore"], self._explore).props("outline").classes("self-start")
        with components.card(words["methods_card"]) as self._methods_container:
            ui.label(words["methods_card.says"]).classes("sf-soft sf-small")
            components.button(words["compare_methods"], self._compare).props("outline").classes("self-start")

        with components.card(words["remedies_card"]) as self._remedies_container:
            ui.label(words["remedies_card.says"]).classes("sf-soft sf-small")
            components.button(words["try_remedies"], self._try_changes).props("outline").classes("self-start")

    async def _try_changes(self) -> None:
        """Try changes of the plan, and list those that lose less, each with a button that takes it."""
        loaded, words = self.workspace.loaded, self.words
        assert loaded is not None
        asked = (tried_changes, loaded.path, deepcopy(self.workspace.plan), words.language)
        with self._remedies_container:
            try:
                found = await watched(self.workspace, words["remedies"], *asked, reruns=True)
            except (SfumatoError, RefusedError) as error:
                components.alarm(components.error_text(error, words))
                return
            except CancelledWorkError:
                return
        with components.refilled(self._remedies_container):
            if not any("plan" in one for one in found):
                ui.label(words["remedy.none"])
            for one in found:
                ui.label(one["says"]).classes("sf-small")
                if "plan" in one:
                    components.button(words["take_remedy"], lambda plan=one["plan"]: self._take_change(plan)).props(
                        "outline dense"
                    ).classes("self-start")

    def _take_change(self, plan: dict[str, Any]) -> None:
        self.workspace.change_plan(plan)
        self.area.refresh()

    def _chosen_before(self) -> None:
        run = fixed_levels(self.workspace.plan) == fixed_levels(self.run.plan)
        show_fixed_levels(self.area, "chosen_run" if run else "chosen")

    async def _explore(self) -> None:
        """Evaluate every node in a separate job."""
        plan = {**self.workspace.plan, "columns": free_columns(self.workspace.plan)}
        plan["method"] = shared_options(self.workspace.plan["method"], "exhaustive") | MEAN_LOSS
        await run_job(self.workspace, "anonymize", plan, self.workspace.files(), self._levels_container, self._explored)

    async def _explored(self, job: Job) -> None:
        loaded, words = self.workspace.loaded, self.words
        assert loaded is not None
        folder = self.workspace.output(job) / "result"
        self._points = result_figures.points(folder, loaded.rows)
        nodes = {name: words.count(count) for name, count in result_figures.report_of(folder)["nodes"].items()}
        if nodes["checked"] != nodes["total"]:
            components.notice(words["nodes_judged"].format(**nodes, seconds=EXPLORING_SECONDS), good=None)
        views = {"frontier": words["frontier"], "lattice": words["lattice"]}
        toggle = ui.toggle(views, value="frontier", on_change=lambda event: self._draw(str(event.value)))
        toggle.classes("sf-small-toggle").props("dense no-caps")
        self._drawing = ui.column().classes("w-full gap-2")
        best = {place: self._text(point) for place, point in enumerate(self._points) if point.best}
        with ui.element("div").classes("sf-labeled w-full"):
            ui.label(words["node_best"]).classes("sf-soft").props('aria-hidden="true"')
            self._choice = ui.select(best, on_change=lambda event: self._chosen(event.value))
            self._choice.classes("w-full").props("dense outlined").props["aria-label"] = words["node_best"]
        if (here := result_figures.here(self.run.folder)) and not result_figures.improves(self._points, here):
            components.notice(words["points_worse"], good=None)
        self._preview = ui.column().classes("w-full").props('role="status"')
        components.listen("sf_node", lambda event: self._look(self._points[int(event.args)]))
        self._draw("frontier")

    def _text(self, point: Point) -> str:
        return point_text(point, self._rows(), self.words)

    def _rows(self) -> int:
        return self.workspace.loaded.rows if self.workspace.loaded else 0

    def _draw(self, view: str) -> None:
        words = self.words
        with components.refilled(self._drawing):
            if view == "frontier":
                ui.label(words["tradeoff_hint"]).classes("sf-soft sf-small")
                here = result_figures.here(self.run.folder)
                ui.html(frontier_legend(words), sanitize=False).classes("legend")
                chart = ui.echart(frontier_chart(self._points, self._rows(), words, here), on_point_click=self._clicked)
                chart.classes("w-full h-80").props(f'aria-label="{words["tradeoff"]}" role="img"')
            else:
                texts = [self._text(point) for point in self._points]
                levels = result_figures.report_of(self.run.folder)["levels"]
                released = [words["lattice_released"]] if any(one.levels == levels for one in self._points) else []
                ui.label(" ".join([words["lattice_hint"], *released])).classes("sf-soft sf-small")
                shown = lattice_svg(self._points, texts, self._budget(), levels, words["lattice"])
                ui.html(shown, sanitize=False).classes("w-full sf-plot").props('tabindex="0"')

    def _budget(self) -> int:
        """Return the maximum number of suppressed rows of the plan."""
        share = self.workspace.plan["method"].get("suppression", 0.0)
        return int(share * self._rows()) if isinstance(share, int | float) else int(share["rows"])

    def _clicked(self, event: Any) -> None:
        if event.series_index < HERE_SERIES:  # the current release is displayed already
            kind = [point for point in self._points if point.best == (event.series_index == 1)]
            self._look(kind[event.data_index])

    def _chosen(self, place: int | None) -> None:
        if place is not None and self._points[place] is not self._seen:
            self._look(self._points[place])

    def _look(self, point: Point) -> None:
        """Show the effect of a point on each column; a second click releases it."""
        words, self._seen = self.words, point
        self._choice.set_value(self._points.index(point) if point.best else None)
        with components.refilled(self._preview), ui.element("div").classes("sf-promise"):
            figures = {"lost": words.count(point.suppressed_rows), "loss": words.percent(point.loss)}
            ui.label(words["point_costs"].format(**figures)).classes("font-bold")
            components.table(
                [words["column"], words["report.level"], words["report.examples"]],
                [[(cell, "") for cell in self._becomes(name, level)] for name, level in point.levels.items()],
            )
            beyond = point.suppressed_rows > self._budget()
            if beyond:
                rows = {"lost": words.count(point.suppressed_rows), "limit": words.count(self._budget())}
                components.notice(words["point_beyond"].format(**rows), good=False)
            label = words["release_beyond" if beyond else "release_point"]
            components.button(label, lambda: self._release(point)).classes("self-start mt-2")

    def _becomes(self, name: str, level: int) -> tuple[str, str, str]:
        """Return a column at a level: its level of how many, and the label of its most frequent value."""
        assert self.workspace.loaded is not None
        column, plan = self.workspace.loaded.column(name), self.workspace.plan["columns"][name]
        try:
            hierarchy, _ = hierarchy_of(column, plan, self.workspace.place("x").parent)
        except (SfumatoError, KeyError):
            return name, str(level), ""
        shown = (
            self.workspace.loaded.shown(name, text, self.words) for text in example_labels(column, hierarchy, level)
        )
        return name, f"{level} / {hierarchy.height - 1}", " → ".join(shown)

    async def _release(self, point: Point) -> None:
        """Fix the levels of a node, allow the rows that it suppresses, and run."""
        plan = deepcopy(self.workspace.plan)
        for name, level in point.levels.items():
            plan["columns"][name] |= {"min_level": level, "max_level": level}
        if plan["method"]["name"] not in LEVELED[:-1]:
            plan["method"] = shared_options(plan["method"], FIXED)
        if self._budget() < point.suppressed_rows:
            plan["method"]["suppression"] = {"rows": point.suppressed_rows}
        self.workspace.change_plan(plan)
        await self._start()

    async def _compare(self) -> None:
        """Run the usual methods for the same goal, without fixed levels, in a separate job."""
        plan = {**self.workspace.plan, "columns": free_columns(self.workspace.plan)}
        files = self.workspace.files()
        await run_job(self.workspace, "compare", plan, files, self._methods_container, self._compared)

    async def _compared(self, job: Job) -> None:
        words = self.words
        runs = _runs(self.workspace.output(job) / "result" / "compare.csv")
        losses = [float(run["loss"]) for run in runs if run["loss"]]
        head = [words["method"].partition(" (")[0], words["compare_loss"], words["suppressed"], words["risk.average"]]
        lines = "".join(self._compared_line(run, losses) for run in runs)
        first = "".join(f'<th scope="col">{escape(name)}</th>' for name in [*head, words["compare_seconds"]])
        ui.label(words["compare_hint"]).classes("sf-soft sf-small")
        content = f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"
        ui.html(content, sanitize=False).classes("sf-table").props('tabindex="0"')
        with ui.row().classes("items-center"):
            ui.label(words["use_method"]).classes("sf-soft sf-small")
            for run in runs:
                if run["loss"]:
                    components.button(run["method"], lambda name=run["method"]: self._use(name)).props("outline dense")

    def _compared_line(self, run: dict[str, str], losses: list[float]) -> str:
        words, name = self.words, f"<td><b>{escape(run['method'])}</b></td>"
        if not run["loss"]:
            why = escape(words["compare_not"].format(why=short_reason(words, run["error"])))
            return f"<tr><td>{escape(run['method'])}</td><td colspan='4'>{why}</td></tr>"
        best = ' class="changed"' if float(run["loss"]) == min(losses) else ""
        cells = [
            words.count(int(run["suppressed_rows"])),
            words.percent(float(run["average_risk"])),
            words.figure(f"{float(run['seconds']):.2f}"),
        ]
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        return f"<tr{best}>{name}<td>{meter(words, float(run['loss']))}</td>{shown}</tr>"

    def _use(self, name: str) -> None:
        """Set another method in the plan; the goal shows it."""
        plan = deepcopy(self.workspace.plan)
        plan["method"] = shared_options(plan["method"], name)
        self.workspace.change_plan(plan)
        self.area.go("goal")


def short_reason(words: Messages, error: str) -> str:
    """Return why a method was not run: the first sentence of its error, without paths of the plan.

    >>> from sfumato.localization.messages import words_in
    >>> short_reason(words_in(), "columns.a: is too long. Cut it.\\ncolumns.b: is too long. Cut it.")
    'is too long.'
    """
    first = PLACE_IN_PLAN.sub("", error.split("\n", maxsplit=1)[0])
    return SENTENCE_END.split(words.text(first))[0]


def _runs(path: Path) -> list[dict[str, str]]:
    head, *lines = [line.fields for line in read_lines(path)]
    return [dict(zip(head, line, strict=True)) for line in lines]
