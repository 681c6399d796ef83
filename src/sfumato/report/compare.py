"""Report of a comparison of methods: a page that states the recommended method first, a table, and files."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from sfumato.delimited.records import delimited_text
from sfumato.errors import EngineError, extra_part
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.release_report import COLUMNS, ComparisonRun, Runs
from sfumato.report.html_page import page, paragraph, raw_table, section, table, tiles

if TYPE_CHECKING:
    from sfumato.microdata.release_report import Runs


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
    """Return the charts of a comparison, by name.

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


# Methods with one level per column for all rows: easiest to explain and to reuse.
ONE_LEVEL = ("exhaustive", "samarati", "optimal")


def as_csv(comparison: Runs) -> str:
    """Return the runs as CSV."""
    return delimited_text([COLUMNS, *(cell.to_dict().values() for cell in comparison.cells)])


def text(comparison: Runs) -> str:
    """Return the losses in plain text, and the recommended method."""
    lines = [verdict(comparison)[0], "", f"  {words_in()['compared.axis.loss']}"]
    for share in comparison.suppression:
        if len(comparison.suppression) > 1:
            lines.append(f"  suppression {share:g}")
        lines.append("  " + "k".rjust(6) + "".join(name.rjust(_width(name)) for name in comparison.methods))
        for k in comparison.k:
            figures = [_shown(cell).rjust(_width(cell.method)) for cell in _line(comparison, k, share)]
            lines.append("  " + str(k).rjust(6) + "".join(figures))
        lines.append("")
    failed = Counter((cell.method, cell.error) for cell in comparison.cells if cell.error)
    lines += [f"  {name}: no answer in {count} runs: {why}" for (name, why), count in failed.items()]
    return "\n".join(lines) + "\n"


def _width(name: str) -> int:
    return max(len(name), 8) + 3


def _line(comparison: Runs, k: int, share: float) -> list[ComparisonRun]:
    cells = {(cell.method, cell.k, cell.suppression): cell for cell in comparison.cells}
    return [cells[name, k, share] for name in comparison.methods]


def _shown(cell: ComparisonRun) -> str:
    return "–" if cell.loss is None else f"{cell.loss:.4f}"


def verdict(comparison: Runs, words: Messages | None = None) -> tuple[str, str]:
    """Return which method loses least, in a sentence, and by how much, in another."""
    words = words or words_in()
    firsts = [best for k in comparison.k for share in comparison.suppression if (best := comparison.best(k, share))]
    if not firsts:
        return words["compared.none"], words["compared.none.do"]
    wins = Counter(cell.method for cell in firsts)
    winner, times = wins.most_common(1)[0]
    where = "compared.everywhere" if times == len(firsts) else "compared.settings"
    others = ", ".join(words["compared.in"].format(method=name, count=count) for name, count in wins.most_common()[1:])
    first = words["compared.choose"].format(
        method=winner, where=words[where].format(times=times, all=len(firsts)), others=f" ({others})" if others else ""
    )
    return first, " ".join([_margin(comparison, winner, words), *_simplest(comparison, winner, words)])


def _simplest(comparison: Runs, winner: str, words: Messages) -> list[str]:
    """Return the recommended method among those with one level per column."""
    losses = {
        name: [cell.loss for cell in comparison.answers if cell.method == name and cell.loss is not None]
        for name in comparison.methods
        if name in ONE_LEVEL
    }
    means = {name: sum(values) / len(values) for name, values in losses.items() if values}
    if not means or winner in ONE_LEVEL:
        return []
    return [words["compared.one_level"].format(method=min(means, key=lambda name: means[name]))]


def _margin(comparison: Runs, winner: str, words: Messages) -> str:
    """Return the difference between the winner and the best of the other methods."""
    ratios: dict[str, list[float]] = {}
    won = {(cell.k, cell.suppression): cell.loss for cell in comparison.answers if cell.method == winner}
    for cell in comparison.answers:
        own = won.get((cell.k, cell.suppression))
        if cell.method != winner and own and cell.loss is not None:
            ratios.setdefault(cell.method, []).append(cell.loss / own)
    if not ratios:
        return words["compared.alone"]
    told = [f"{name} {_times(sum(values) / len(values), words)}" for name, values in ratios.items()]
    return words["compared.average"].format(losses="; ".join(told))


def _times(ratio: float, words: Messages) -> str:
    if abs(ratio - 1) < 0.005:
        return words["compared.as_much"]
    if ratio > 1:
        return words["compared.times"].format(times=words.figure(f"{ratio:.2g}"))
    return words["compared.less"].format(share=words.figure(f"{100 * (1 - ratio):.0f} %"))


def html(comparison: Runs) -> str:
    """Return the comparison as one page, in the language of its plan."""
    words = words_in(comparison.language)
    first, second = verdict(comparison, words)
    tone = "verdict" if comparison.answers else "verdict bad"
    about = words["compared.about"].format(
        rows=words.count(comparison.rows), count=len(comparison.columns), columns=", ".join(comparison.columns)
    )
    figures = _figures(comparison, words)
    methods = [(name, words.get(f"compared.method.{name}", "")) for name in comparison.methods]
    body = [
        f"<h1>{escape(words['compared.title'])}</h1>",
        paragraph(about, soft=True),
        f'<div class="{tone}"><strong>{escape(first)}</strong>{paragraph(second)}</div>',
        *_tiles(comparison, words),
        *figures[:1],
        section(words["compared.losses"], *_matrices(comparison, words)),
        *figures[1:],
        section(words["compared.methods"], table([words["report.method"], ""], methods, words)),
        section(words["compared.all"], _details(comparison, words)),
        *_failures(comparison, words),
    ]
    return page(f"Sfumato: {words['compared.title']}", body, words.language)


def _tiles(comparison: Runs, words: Messages) -> list[str]:
    """Return the best method and its loss for the smallest, the middle and the largest k."""
    shown = dict.fromkeys((comparison.k[0], comparison.k[len(comparison.k) // 2], comparison.k[-1]))
    share = comparison.suppression[0]
    bests = [(k, comparison.best(k, share)) for k in shown]
    return [
        tiles(
            (f"{best.method} {words.figure(f'{best.loss:.3f}')}", words["compared.best"].format(k=k))
            for k, best in bests
            if best
        )
    ]


def _matrices(comparison: Runs, words: Messages) -> list[str]:
    """Return one table per suppression limit: a row for each k, a column for each method, the best marked."""
    parts = [paragraph(words["compared.losses.says"], True)]
    for share in comparison.suppression:
        if len(comparison.suppression) > 1:
            title = words["compared.up_to"].format(share=words.figure(f"{100 * share:.3g} %"))
            parts.append(f"<h3>{escape(title)}</h3>")
        rows = [_row(comparison, k, share, words) for k in comparison.k]
        parts.append(raw_table(["k", *comparison.methods], rows, [True] * (len(comparison.methods) + 1)))
    return parts


def _row(comparison: Runs, k: int, share: float, words: Messages) -> list[str]:
    best = comparison.best(k, share)
    cells = [f'<td class="number">{k}</td>']
    for cell in _line(comparison, k, share):
        mark, figure = " masked" if cell == best else "", words.figure(_shown(cell))
        shown = f"<strong>{figure}</strong>" if cell == best else figure
        title = f' title="{escape(cell.error)}"' if cell.error else ""
        cells.append(f'<td class="number{mark}"{title}>{shown}</td>')
    return cells


def _figures(comparison: Runs, words: Messages) -> list[str]:
    """Return the charts, or a hint if they cannot be drawn."""
    try:
        charts = {name: drawn(chart, name) for name, chart in comparison_charts(comparison).items()}
    except EngineError as error:
        return [section(words["compared.charts"], paragraph(hint(error)))]
    return [
        section(
            words[f"compared.chart.{name}"],
            f"<figure>{svg}<figcaption>{escape(words[f'compared.chart.{name}.says'])}</figcaption></figure>",
        )
        for name, svg in charts.items()
    ]


def _details(comparison: Runs, words: Messages) -> str:
    keys = ["method", "k", "suppression", "loss", "suppressed_rows", "classes", "smallest", "largest", "seconds"]
    if any(cell.same_answers is not None for cell in comparison.cells):
        keys += ["same_answers", "different_answers"]
    rows = [[getattr(cell, key) for key in keys] for cell in comparison.cells]
    return table([words[f"compared.column.{key}"] for key in keys], rows, words)


def _failures(comparison: Runs, words: Messages) -> list[str]:
    failed = [(c.method, c.k, c.suppression, words.text(c.error)) for c in comparison.cells if c.error]
    head = [words[f"compared.column.{key}"] for key in ("method", "k", "suppression", "why")]
    return [section(words["compared.failed"], table(head, failed, words))] if failed else []
