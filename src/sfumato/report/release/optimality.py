"""What is proven about a release: the distance of its loss from the minimum, and what a search over sets publishes."""

from collections.abc import Mapping, Sequence
from html import escape

from sfumato.localization.messages import Messages
from sfumato.microdata.release_report import Report
from sfumato.report.page.html_page import paragraph, section, table
from sfumato.report.release.report_data import ReportData
from sfumato.report.release.sections.column_evidence import shown_as

MOST_LABELS = 30
Labels = Sequence[str | None]


def published(report: Report) -> Mapping[str, Labels]:
    """Return the labels of each column, for a method that chooses them for all rows together."""
    labels: Mapping[str, Labels] = report.details.get("published") or {}
    return labels


def fate(words: Messages, labels: Labels, values: int | None) -> str:
    """Return the effect of labels for all rows on a column with a number of distinct values."""
    if list(labels) == ["*"]:
        return words["fate.withheld"]
    if len(labels) == values:
        return words["report.as_it_is"]
    return words["report.one_of"].format(count=words.count(len(labels)))


def chips(words: Messages, labels: Labels) -> str:
    """Return labels in sequence; of many the first ones."""
    if list(labels) == ["*"]:
        return ""
    shown = [f'<span class="chip">{escape(shown_as(words, label))}</span>' for label in labels[:MOST_LABELS]]
    rest = len(labels) - MOST_LABELS
    more = [words["report.more_labels"].format(count=words.count(rest))] if rest > 0 else []
    return f'<div class="labels">{" ".join([*shown, *more])}</div>' if labels else ""


def proved(words: Messages, report: Report, key: str) -> str:
    """Return that a release is proven optimal: among all, or among those that the plan's levels allow."""
    if not report.proved_optimal or report.levels_chosen:
        return ""
    return words[f"{key}_allowed" if report.limits_levels else key]


def quality(dossier: ReportData) -> str:
    """Return the quality of the result of a search with a bound; empty for others."""
    bound = dossier.report.details.get("bound")
    if bound is None or dossier.report.levels_chosen:
        return ""
    gap = _gap(dossier.report.loss.value, float(bound))
    text = paragraph(_quality_text(dossier, gap))
    return section(dossier.words["report.quality"], text, *_figures(dossier, float(bound), gap))


def _quality_text(dossier: ReportData, gap: float) -> str:
    words, report = dossier.words, dossier.report
    if report.proved_optimal:
        return proved(words, report, "report.proved")
    if report.method == "local":
        return words["report.bounded"].format(gap=words.percent(gap))
    why = words["report.interrupted" if report.details.get("interrupted") else "report.time_over"]
    return words["report.unproved"].format(why=why, gap=words.percent(gap))


def _gap(loss: float, bound: float) -> float:
    """Return by which share of the loss the optimum may be lower."""
    return 0.0 if loss <= 0 else min(max(0.0, 1.0 - bound / loss), 1.0)


def _figures(dossier: ReportData, bound: float, gap: float) -> list[str]:
    words, loss = dossier.words, dossier.report.loss
    if dossier.report.proved_optimal:
        return []
    rows = [
        (words["report.loss_here"], words.figure(f"{loss.value:,.6g}")),
        (words["report.loss_bound"], words.figure(f"{bound:,.6g}")),
        (words["report.loss_gap"], words.percent(gap)),
    ]
    return [table(["", loss.name], rows, words)]
