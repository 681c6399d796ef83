"""All methods to protect a table next to each other: whether the rules are satisfied, cost, coarser tables."""

import json
from html import escape
from pathlib import Path

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.report.tables.comparison import HEAD, cells, failures, size, verdict, way
from sfumato.tables.comparison import TableRun, TableRuns
from sfumato.web import components


def show(folder: Path, words: Messages) -> None:
    """Show the comparison of a job."""
    runs = runs_of(folder / "compare.json")
    with components.card(words["ways.title"]):
        components.notice(verdict(runs, words), any(run.passed for run in runs.runs))
        ui.label(size(runs, words)).classes("sf-soft sf-small")
        ui.html(table(runs, words), sanitize=False).classes("sf-table sf-ways").props('tabindex="0"')
        for failure in failures(runs, words):
            components.notice(failure, good=None)
        if runs.redesign:
            ui.label(words["ways.coarser"]).classes("font-bold mt-2")
            lines = "".join(f"<li>{escape(words.text(one))}</li>" for one in runs.redesign)
            ui.html(f"<ul>{lines}</ul>", sanitize=False).classes("sf-prose")
        ui.label(words["ways.says"]).classes("sf-soft sf-small")
        report = components.button(words["download_report"], lambda: ui.download.file(folder / "compare.html"))
        report.props("outline").classes("self-start")


def runs_of(path: Path) -> TableRuns:
    """Return the comparison in a file."""
    record = json.loads(path.read_text(encoding="utf-8"))
    runs = []
    for entry in record["runs"]:
        entry.pop("satisfied")
        runs.append(TableRun(**entry | {"attackers": tuple(entry["attackers"])}))
    return TableRuns(record["cells"], record["unsafe"], tuple(runs), tuple(record["redesign"]))


def table(runs: TableRuns, words: Messages) -> str:
    """Return a row for each method; those that satisfy the rules are marked, and each heading has a tooltip."""
    heads = "".join(
        f'<th scope="col"{components.help_of(words[f"tip.ways.{name}"])}>{escape(words[f"ways.{name}"])}</th>'
        for name in HEAD
    )
    lines = "".join(_row(run, words) for run in runs.runs)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _row(run: TableRun, words: Messages) -> str:
    sign = "✓" if run.passed else "✗"
    kind = "good" if run.passed else "bad"
    told = escape(words["ways.holds" if run.passed else "ways.fails"])
    first = f'<th scope="row"><span class="{kind}" title="{told}">{sign}</span> {escape(way(words, run.method))}</th>'
    figures = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells(run, words)[1:])
    return f"<tr>{first}{figures}</tr>"
