"""Report section on perturbed columns: the operations, the rate of re-identified rows, and the loss for analyses."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.report.page.html_page import paragraph, section, table
from sfumato.report.page.plots import Pair, histogram, legend, meters
from sfumato.report.release.report_data import ReportData

MOST_PLOTS = 6
# Metrics of persons in the file and of others: message key, and the names of both metrics.
HOLDOUTS = (
    ("perturbed.holdout", "learned_by_linkage", "learned_of_others"),
    ("perturbed.holdout_weighed", "learned_by_probability", "learned_of_others_by_probability"),
)
LOSSES = ("il1s", "covariance_distance", "eigenvalue_distance", "correlation_drift")


def perturbation(dossier: ReportData) -> str:
    """Return the section; empty if nothing is perturbed."""
    words, figures = dossier.words, dossier.report.details.get("perturbation")
    if not figures:
        return ""
    parts = [paragraph(words["perturbed.honest"]), _operations(words, figures["operations"])]
    measures = figures.get("measures") or {}
    if "il1s" in measures:
        parts += [*_risk(words, measures), *_losses(words, measures), *_plots(words, measures["quantiles"])]
    return section(words["perturbed.title"], *parts)


def _operations(words: Messages, operations: list[Mapping[str, Any]]) -> str:
    rows = [
        (", ".join(entry["columns"]), words[f"operation.{entry['operation']}"], _plain(words, entry))
        for entry in operations
    ]
    return table([words["report.column"], words["perturbed.operation"], words["measure.value"]], rows, words)


def _plain(words: Messages, entry: Mapping[str, Any]) -> str:
    """Return the parameters of an operation."""
    return ", ".join(
        f"{name.replace('_', ' ')}: {words.amount(value)}"
        for name, value in entry.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )


def _risk(words: Messages, measures: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3>{escape(words['perturbed.risk'])}</h3>" + "".join(_linkage(words, measures))
    rows = [
        (name, words.percent(near), words.percent(measures["near_in_deviation"][name]))
        for name, near in measures["near_in_rank"].items()
    ]
    yield table([words["report.column"], words["perturbed.near_rank"], words["perturbed.near_deviation"]], rows, words)


def _linkage(words: Messages, measures: Mapping[str, Any]) -> Iterator[str]:
    """Yield which rows an attacker finds, among those that have all numbers."""
    left_out = measures.get("incomplete_rows", 0)  # missing in folders of earlier versions
    if left_out:
        counts = {"rows": words.count(measures["rows"]), "left_out": words.count(left_out)}
        yield paragraph(words["perturbed.incomplete"].format(**counts))
    if "linked_by_distance" not in measures:
        return
    yield paragraph(
        words["perturbed.risk_text"].format(
            linked=words.percent(measures["linked_by_distance"]),
            weighed=words.percent(measures["linked_by_probability"]),
            chance=words.percent(measures["by_chance"]),
        )
    )
    for text, *names in HOLDOUTS:
        if set(names) <= set(measures):  # folders of earlier versions lack some
            learned, others = (words.percent(measures[name]) for name in names)
            yield paragraph(words[text].format(learned=learned, others=others))
    pairs = [
        Pair(
            words["perturbed.by_distance"],
            measures.get("linked_by_distance_before", 1.0),
            measures["linked_by_distance"],
        ),
        Pair(
            words["perturbed.by_probability"],
            measures.get("linked_by_probability_before", 1.0),
            measures["linked_by_probability"],
        ),
    ]
    yield legend(words) + meters(words, pairs)


def _losses(words: Messages, measures: Mapping[str, Any]) -> Iterator[str]:
    rows = [(words[f"perturbed.{name}"], measures[name]) for name in LOSSES if measures.get(name) is not None]
    yield f"<h3>{escape(words['perturbed.loss'])}</h3>" + table(["", words["measure.value"]], rows, words)


def _plots(words: Messages, quantiles: Mapping[str, Mapping[str, list[float]]]) -> Iterator[str]:
    """Yield for some columns their quantiles before and after, as shares of the shown original range."""
    for name, pairs in list(quantiles.items())[:MOST_PLOTS]:
        raw = [before for before, _ in pairs.values()]
        low, span = min(raw), (max(raw) - min(raw)) or 1.0
        bars = [
            Pair(words.percent(float(share)), (before - low) / span, min(max((after - low) / span, 0.0), 1.0))
            for share, (before, after) in pairs.items()
        ]
        about = words["perturbed.quantiles"].format(column=name)
        drawn = histogram(words, bars, words["perturbed.quantile_axis"], about)
        yield f"<figure>{drawn}<figcaption>{escape(about)}</figcaption></figure>"
