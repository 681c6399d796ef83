"""Report of a comparison of methods: a page that states the recommended method first, a table, and files."""

from collections import Counter
from html import escape

from sfumato.delimited.records import delimited_text
from sfumato.errors import EngineError
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.method_comparison import COLUMNS, ComparisonRun, Runs
from sfumato.report.page.html_page import page, paragraph, raw_table, section, table, tiles

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
    from sfumato.report.comparison_charts import comparison_charts, drawn, hint

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
    keys = ("method", "k", "suppression", "loss", "suppressed_rows", "classes", "smallest", "largest", "seconds")
    rows = [[getattr(cell, key) for key in keys] for cell in comparison.cells]
    return table([words[f"compared.column.{key}"] for key in keys], rows, words)


def _failures(comparison: Runs, words: Messages) -> list[str]:
    failed = [(c.method, c.k, c.suppression, words.text(c.error)) for c in comparison.cells if c.error]
    head = [words[f"compared.column.{key}"] for key in ("method", "k", "suppression", "why")]
    return [section(words["compared.failed"], table(head, failed, words))] if failed else []
