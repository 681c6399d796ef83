"""The report of a comparison: a page that says at once which method to choose, a table, and files."""

from collections import Counter
from html import escape

from sfumato.delimited import delimited_text
from sfumato.errors import EngineError
from sfumato.microdata.comparison import COLUMNS, Cell, Runs
from sfumato.report.page.html_parts import page, paragraph, raw_table, section, table, tiles

TITLES = {
    "loss_by_k": ("Loss against k", "Lower is better: what a row loses of a column, on average, for each k."),
    "loss_by_suppression": (
        "Loss against suppression",
        "What it gains to suppress some rows. Mondrian suppresses none: its line is flat.",
    ),
    "frontier": (
        "Risk against loss",
        "Each point is a run; further down and to the left is better. The dashed line joins the runs that none beats.",
    ),
    "seconds": ("Time", "Seconds of the search alone, on a logarithmic scale; the rows were counted once for all."),
}
# Methods that publish a column at one level for all rows: easiest to explain and to reuse.
ONE_LEVEL = ("exhaustive", "samarati", "optimal")
KINDS = {
    "exhaustive": "One level for each column, all combinations tried.",
    "samarati": "One level for each column, the lowest sum of levels; not the least loss.",
    "optimal": "One level for each column, proved to be the least loss of all such. Easiest to explain and to reuse.",
    "local": "Each row at the least level at which it has company. Labels of different levels stand side by side.",
    "mondrian": "Classes cut at medians: ranges and sets fitted to the data. Labels overlap from class to class.",
    "mondrian-relaxed": "As mondrian, rows of one value divided between classes.",
    "mondrian-loss": "As mondrian, each cut chosen by what it saves.",
    "cells": "Single cells published as missing, as few as possible.",
    "microaggregation": "Numbers become the means of groups.",
    "k-optimize": "The best set of cuts for each column.",
}


def as_csv(comparison: Runs) -> str:
    """The runs as CSV."""
    return delimited_text([COLUMNS, *(cell.to_dict().values() for cell in comparison.cells)])


def text(comparison: Runs) -> str:
    """The losses in plain text, and the sentence that says which method to choose."""
    lines = [verdict(comparison)[0], ""]
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


def _line(comparison: Runs, k: int, share: float) -> list[Cell]:
    cells = {(cell.method, cell.k, cell.suppression): cell for cell in comparison.cells}
    return [cells[name, k, share] for name in comparison.methods]


def _shown(cell: Cell) -> str:
    return "–" if cell.loss is None else f"{cell.loss:.4f}"


def verdict(comparison: Runs) -> tuple[str, str]:
    """Which method loses least, in a sentence, and by how much, in another."""
    firsts = [best for k in comparison.k for share in comparison.suppression if (best := comparison.best(k, share))]
    if not firsts:
        return "No method has an answer.", "Ask for less, allow suppression, or see below what stopped each."
    wins = Counter(cell.method for cell in firsts)
    winner, times = wins.most_common(1)[0]
    everywhere = "everywhere" if times == len(firsts) else f"in {times} of {len(firsts)} settings"
    others = ", ".join(f"{name} in {count}" for name, count in wins.most_common()[1:])
    first = f"Choose {winner}: it loses least {everywhere}" + (f" ({others})." if others else ".")
    return first, " ".join([_margin(comparison, winner), *_simplest(comparison, winner)])


def _simplest(comparison: Runs, winner: str) -> list[str]:
    """Which method to take by those who want one level for each column."""
    losses = {
        name: [cell.loss for cell in comparison.answers if cell.method == name and cell.loss is not None]
        for name in comparison.methods
        if name in ONE_LEVEL
    }
    means = {name: sum(values) / len(values) for name, values in losses.items() if values}
    if not means or winner in ONE_LEVEL:
        return []
    best = min(means, key=lambda name: means[name])
    return [f"If every column must have one level for all rows, choose {best}."]


def _margin(comparison: Runs, winner: str) -> str:
    """How the winner stands against the best of the other methods."""
    ratios: dict[str, list[float]] = {}
    won = {(cell.k, cell.suppression): cell.loss for cell in comparison.answers if cell.method == winner}
    for cell in comparison.answers:
        own = won.get((cell.k, cell.suppression))
        if cell.method != winner and own and cell.loss is not None:
            ratios.setdefault(cell.method, []).append(cell.loss / own)
    if not ratios:
        return "There is nothing to hold it against."
    words = [f"{name} loses {_times(sum(values) / len(values))}" for name, values in ratios.items()]
    return "On average over the same settings, " + "; ".join(words) + "."


def _times(ratio: float) -> str:
    return (
        "as much" if abs(ratio - 1) < 0.005 else f"{ratio:.2g} times as much" if ratio > 1 else f"{1 - ratio:.0%} less"
    )


def html(comparison: Runs) -> str:
    """The comparison as one page."""
    first, second = verdict(comparison)
    tone = "verdict" if comparison.answers else "verdict bad"
    about = f"{comparison.rows:,} rows, {len(comparison.columns)} quasi-identifiers: {', '.join(comparison.columns)}."
    figures = _figures(comparison)
    body = [
        "<h1>Which method to choose</h1>",
        paragraph(about, soft=True),
        f'<div class="{tone}"><strong>{escape(first)}</strong>{paragraph(second)}</div>',
        *_tiles(comparison),
        *figures[:1],
        section("Loss of every run", *_matrices(comparison)),
        *figures[1:],
        section(
            "What the methods do", table(["method", ""], [(name, KINDS.get(name, "")) for name in comparison.methods])
        ),
        section("All figures", _details(comparison)),
        *_failures(comparison),
    ]
    return page("Sfumato: comparison", body)


def _tiles(comparison: Runs) -> list[str]:
    """For the least, the middle and the greatest k the best method and its loss."""
    shown = dict.fromkeys((comparison.k[0], comparison.k[len(comparison.k) // 2], comparison.k[-1]))
    share = comparison.suppression[0]
    bests = [(k, comparison.best(k, share)) for k in shown]
    return [tiles((f"{best.method} {best.loss:.3f}", f"best for k = {k}") for k, best in bests if best)]


def _matrices(comparison: Runs) -> list[str]:
    """One table a suppression: a row for each k, a column for each method, the best marked."""
    parts = [
        paragraph("Mean over the columns of what a row loses: 0 as it was, 1 nothing left. The best is marked.", True)
    ]
    for share in comparison.suppression:
        if len(comparison.suppression) > 1:
            parts.append(f"<h3>Up to {_percent(share)} of the rows suppressed</h3>")
        rows = [_row(comparison, k, share) for k in comparison.k]
        parts.append(raw_table(["k", *comparison.methods], rows, [True] * (len(comparison.methods) + 1)))
    return parts


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _row(comparison: Runs, k: int, share: float) -> list[str]:
    best = comparison.best(k, share)
    cells = [f'<td class="number">{k}</td>']
    for cell in _line(comparison, k, share):
        mark = " masked" if cell == best else ""
        shown = f"<strong>{_shown(cell)}</strong>" if cell == best else _shown(cell)
        title = f' title="{escape(cell.error)}"' if cell.error else ""
        cells.append(f'<td class="number{mark}"{title}>{shown}</td>')
    return cells


def _figures(comparison: Runs) -> list[str]:
    """The charts, or the hint where they cannot be drawn."""
    from sfumato.report.comparison_charts import comparison_charts, drawn, hint

    try:
        charts = {name: drawn(chart, name) for name, chart in comparison_charts(comparison).items()}
    except EngineError as error:
        return [section("Charts", paragraph(hint(error)))]
    return [
        section(TITLES[name][0], f"<figure>{svg}<figcaption>{escape(TITLES[name][1])}</figcaption></figure>")
        for name, svg in charts.items()
    ]


def _details(comparison: Runs) -> str:
    head = ["method", "k", "suppression", "loss", "suppressed rows", "classes", "smallest", "largest", "seconds"]
    rows = [
        (c.method, c.k, c.suppression, c.loss, c.suppressed_rows, c.classes, c.smallest, c.largest, c.seconds)
        for c in comparison.cells
    ]
    return table(head, rows)


def _failures(comparison: Runs) -> list[str]:
    failed = [(c.method, c.k, c.suppression, c.error) for c in comparison.cells if c.error]
    return [section("Runs without an answer", table(["method", "k", "suppression", "why"], failed))] if failed else []
