"""Compare the runs of a project."""

from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.web import components
from sfumato.web.microdata.result.result_figures import kept_columns, report_of
from sfumato.web.projects.workspace import Workspace


def build(workspace: Workspace) -> None:
    """Build a table with a column for each run, a line for each metric and for what each column preserved."""
    words, runs = workspace.words, [run for run in workspace.runs if (run.folder / "report.json").exists()]
    reports = [report_of(run.folder) for run in runs]
    promises = [", ".join(_promise(entry, words) for entry in run.plan["privacy"]) for run in runs]
    rows = [
        (words["promises"], promises),
        (words["method"].partition(" (")[0], [report["method"] for report in reports]),
        (words["published"], [words.count(report["published_rows"]) for report in reports]),
        (words["suppressed"], [words.count(report["suppressed_rows"]) for report in reports]),
        (words["highest"], [words.percent(report["risk"]["after"]["highest"]) for report in reports]),
        (words["risk.average"], [words.percent(report["risk"]["after"]["average"]) for report in reports]),
        (words["loss"], [_mean_loss(words, report) for report in reports]),
    ]
    kept = [{column.name: column.share for column in kept_columns(report)} for report in reports]
    for name in dict.fromkeys(name for shares in kept for name in shares):
        shares = ["–" if (share := side.get(name)) is None else words.percent(share) for side in kept]
        rows.append((words["kept_of"].format(column=name), shares))
    with components.card(words["runs"]):
        if len(runs) < 2:
            ui.label(words["runs_hint"]).classes("sf-soft sf-small")
        lines = [[(title, "") for title in (head, *figures)] for head, figures in rows]
        components.table(["", *(f"#{run.number}" for run in runs)], lines)


def _mean_loss(words: Messages, report: dict[str, Any]) -> str:
    """Return the mean loss of a cell, on the common scale of all runs."""
    mean = report.get("mean_loss")
    return "–" if mean is None else words.percent(mean)


def _promise(entry: dict[str, object], words: Messages) -> str:
    """Return a short text for a guarantee.

    >>> from sfumato.localization.messages import words_in
    >>> [_promise({"model": "l-diversity", "l": 2, "column": "illness"}, words_in(own)) for own in ("en", "de")]
    ['l-diversity 2 (illness)', 'l-Diversität 2 (illness)']
    """
    number = next((entry[key] for key in ("k", "l", "t", "threshold") if key in entry), "")
    column = f" ({entry['column']})" if "column" in entry else ""
    model = words[f"model.{entry['model']}"].partition(":")[0]
    return f"{model} {number}{column}".strip()
