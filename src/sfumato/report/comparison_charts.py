"""Charts of a comparison: Altair in a notebook, the same chart as SVG in a page, without script and network."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.errors import EngineError, extra_part
from sfumato.localization.messages import words_in

if TYPE_CHECKING:
    from sfumato.microdata.method_comparison import Runs

Chart = Any
WIDTH, HEIGHT = 640, 300
# Colors that color-blind readers can distinguish, on light and dark backgrounds.
PALETTE = ("#b5533c", "#c98a3c", "#44759c", "#3f8f6b", "#8a5a9e", "#7d8590", "#a8325e", "#5b6f2a")
SHAPES = ("square", "diamond", "circle", "triangle-up", "cross", "triangle-down", "triangle-right", "triangle-left")


def _altair() -> Any:
    with extra_part("altair", "charts"):
        import altair
    return altair


def comparison_charts(comparison: "Runs") -> dict[str, Chart]:
    """The charts of a comparison, by name.

    Raises:
        EngineError: Altair is not installed.
    """
    if not comparison.answers:
        return {}
    drawn = _Drawing(_altair(), comparison)
    charts = {"loss_by_k": drawn.loss_by_k()}
    if len(comparison.suppression) > 1:
        charts["loss_by_suppression"] = drawn.loss_by_suppression()
    return charts | {"frontier": drawn.frontier(), "seconds": drawn.seconds()}


class _Drawing:
    """The charts of one comparison: every method has the same color and shape in all of them."""

    def __init__(self, altair: Any, comparison: "Runs") -> None:
        self.alt = altair
        self.comparison = comparison
        self.words = words_in(comparison.language)
        names = list(comparison.methods)
        legend = altair.Legend(orient="top", title=None)
        colors = altair.Scale(domain=names, range=[PALETTE[place % len(PALETTE)] for place in range(len(names))])
        shapes = altair.Scale(domain=names, range=[SHAPES[place % len(SHAPES)] for place in range(len(names))])
        self.color = altair.Color("method:N", scale=colors, legend=legend, sort=names)
        self.shape = altair.Shape("method:N", scale=shapes, legend=legend, sort=names)

    def loss_by_k(self) -> Chart:
        """Return loss against k, at the first suppression limit."""
        share = self.comparison.suppression[0]
        rows = [cell.to_dict() for cell in self.comparison.answers if cell.suppression == share]
        return self._lines(rows, self.alt.X("k:O", title="k", axis=self.alt.Axis(labelAngle=0)), self._loss())

    def loss_by_suppression(self) -> Chart:
        """Return loss against the suppression limit, one line per method, at the middle k."""
        k = self.comparison.k[len(self.comparison.k) // 2]
        rows = [cell.to_dict() for cell in self.comparison.answers if cell.k == k]
        axis = self.alt.X("suppression:Q", title=self.words["compared.axis.suppression"].format(k=k))
        return self._lines(rows, axis.axis(format="%", values=list(self.comparison.suppression)), self._loss())

    def frontier(self) -> Chart:
        """Return loss against risk; the line connects the runs that no other beats in both."""
        rows = [cell.to_dict() for cell in self.comparison.answers]
        x = self.alt.X("average_risk:Q", title=self.words["risk.average"]).axis(format="%").scale(type="log", nice=True)
        points = (
            self._base(rows).mark_point(filled=True, size=70, opacity=0.9).encode(x=x, y=self._loss(), **self._marks())
        )
        edge = self._base(unbeaten(rows)).mark_line(color="#8b929e", strokeDash=[4, 3], strokeWidth=1.5)
        return (edge.encode(x=x, y=self._loss(), order="average_risk:Q") + points).properties(
            width=WIDTH, height=HEIGHT
        )

    def seconds(self) -> Chart:
        """Return search time against k."""
        share = self.comparison.suppression[0]
        rows = [cell.to_dict() for cell in self.comparison.answers if cell.suppression == share]
        y = self.alt.Y("seconds:Q", title=self.words["compared.axis.seconds"]).scale(type="log").axis(format="~g")
        return self._lines(rows, self.alt.X("k:O", title="k", axis=self.alt.Axis(labelAngle=0)), y)

    def _loss(self) -> Any:
        return self.alt.Y("loss:Q", title=self.words["compared.axis.loss"]).scale(zero=True)

    def _marks(self) -> dict[str, Any]:
        return {"color": self.color, "shape": self.shape, "tooltip": list(_TOLD)}

    def _base(self, rows: Iterable[Mapping[str, Any]]) -> Any:
        return self.alt.Chart(self.alt.Data(values=list(rows)))

    def _lines(self, rows: list[dict[str, Any]], x: Any, y: Any) -> Chart:
        line = self._base(rows).mark_line(strokeWidth=2.5).encode(x=x, y=y, color=self.color)
        points = self._base(rows).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, **self._marks())
        return (line + points).properties(width=WIDTH, height=HEIGHT)


def unbeaten(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the runs that no other beats in both average risk and loss, by risk.

    >>> runs = [{"average_risk": risk, "loss": loss} for risk, loss in ((0.1, 0.5), (0.2, 0.6), (0.3, 0.4))]
    >>> [run["loss"] for run in unbeaten(runs)]
    [0.5, 0.4]
    """
    frontier: list[Mapping[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["average_risk"], row["loss"])):
        if not frontier or row["loss"] < frontier[-1]["loss"]:
            frontier.append(row)
    return frontier


def drawn(chart: Chart, name: str) -> str:
    """Return a chart as SVG; `name` distinguishes its element ids from those of other charts on the page.

    Raises:
        EngineError: The package that draws is not installed.
    """
    with extra_part("vl-convert-python", "charts"):
        import vl_convert
    spec = chart.to_dict() | {"background": "transparent", "config": _CONFIG}
    return _apart(str(vl_convert.vegalite_to_svg(json.dumps(spec))), name)


def hint(error: EngineError) -> str:
    """Return the text shown instead of a chart."""
    return f"The charts are missing: {error}"


def _apart(svg: str, name: str) -> str:
    svg = re.sub(r'id="([^"]+)"', rf'id="{name}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)


_TOLD = ("method:N", "k:O", "suppression:Q", "loss:Q", "classes:Q", "seconds:Q")
_SOFT = "#7d8590"
_CONFIG = {
    "view": {"stroke": None},
    "axis": {"labelColor": _SOFT, "titleColor": _SOFT, "gridColor": _SOFT, "gridOpacity": 0.2, "domainColor": _SOFT}
    | {"tickColor": _SOFT, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelColor": _SOFT, "labelFontSize": 13, "symbolSize": 110},
    "font": "system-ui, sans-serif",
}
