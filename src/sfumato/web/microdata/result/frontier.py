"""The Pareto frontier of information loss and suppressed rows over all combinations of levels."""

from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.web.microdata.result.result_figures import Point

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


def text_of(point: Point, rows: int, words: Messages) -> str:
    """Describe a point: suppressed rows, loss, and levels."""
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    lost = words.percent(point.suppressed_rows / max(rows, 1))
    return words["point"].format(lost=lost, loss=words.percent(point.loss), levels=levels or words["node_here"])


def chart(points: list[Point], rows: int, words: Messages, here: Point | None = None) -> dict[str, Any]:
    """Return the chart of loss against suppressed rows, with the Pareto front and the current release."""

    def series(chosen: list[Point], name: str, color: str, size: int) -> dict[str, Any]:
        data = [
            {
                "value": [round(100 * point.suppressed_rows / max(rows, 1), 3), round(100 * point.loss, 3)],
                "name": text_of(point, rows, words),
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


def legend(words: Messages) -> str:
    """Return the legend, next to the chart, because inside a narrow chart it would cover points."""
    marks = ((OTHER, words["node_other"]), (BEST, words["node_best"]), (HERE, words["node_here"]))
    return "".join(f'<i style="background: {color}"></i>{escape(says)} ' for color, says in marks)
