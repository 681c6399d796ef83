"""The Pareto frontier of information loss and suppressed rows over all combinations of levels."""

from html import escape
from typing import Any

from sfumato.localization.messages import Words
from sfumato.web.microdata.result.result_figures import Point

# Colors that can be read on light and on dark ground.
SOFT = {"color": "#8b929e"}
OTHER, BEST, HERE = "#9aa5bd", "#c98a3c", "#3f9d6d"
# Which of the series is the release at hand.
HERE_SERIES = 2
AXIS = {
    "nameLocation": "middle",
    "nameTextStyle": SOFT,
    "axisLabel": SOFT,
    "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
}
# The share of rows withheld up to which points are shown at first; the rest is reached by zooming.
USEFUL_SHARE = 0.1


def text_of(point: Point, rows: int, words: Words) -> str:
    """A point in words: what it withholds, what it loses, and its levels."""
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    lost = words.percent(point.suppressed_rows / max(rows, 1))
    return words["point"].format(lost=lost, loss=words.percent(point.loss), levels=levels or words["node_here"])


def chart(points: list[Point], rows: int, words: Words, here: Point | None = None) -> dict[str, Any]:
    """Loss against rows withheld; the points that none beats apart, the useful part first; the release at hand."""

    def series(chosen: list[Point], name: str, color: str, size: int) -> dict[str, Any]:
        data = [
            {
                "value": [round(100 * point.suppressed_rows / max(rows, 1), 3), round(100 * point.loss, 3)],
                "name": text_of(point, rows, words),
            }
            for point in chosen
        ]
        return {"type": "scatter", "name": name, "data": data, "symbolSize": size, "itemStyle": {"color": color}}

    # Numbers on axes are written by the browser, in the language of the page.
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


def legend(words: Words) -> str:
    """Which color is which, beside the chart: inside it, long words would lie on the points of a narrow one."""
    marks = ((OTHER, words["node_other"]), (BEST, words["node_best"]), (HERE, words["node_here"]))
    return "".join(f'<i style="background: {color}"></i>{escape(says)} ' for color, says in marks)
