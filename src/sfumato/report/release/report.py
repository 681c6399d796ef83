"""Write the report of a release as text for the terminal, HTML page, notebook fragment, and report files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from math import isclose
from typing import Any

from sfumato.hierarchies.registry import hierarchy_words
from sfumato.localization.lists import MOST_NAMES, ListMessage, enumeration, names_told
from sfumato.localization.messages import Messages, to_json, words_in, words_on_persons
from sfumato.microdata.release_report import EXTERNAL_CHECKSUMS, Report
from sfumato.report import html_page as approval
from sfumato.report.checks import attack_section, framed, policy_section
from sfumato.report.html_page import listing, page, paragraph, section, table
from sfumato.report.plots import Pair, histogram, legend, meters
from sfumato.report.release import findings, measures, questions, sections, sentences, sign_off
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.findings import lost_column
from sfumato.values import Value

MOST_PLOTS = 6
# Attack success for persons in the file and for control persons: message key, and the names of both metrics.
HOLDOUTS = (
    ("perturbed.holdout", "learned_by_linkage", "learned_of_others"),
    ("perturbed.holdout_weighed", "learned_by_probability", "learned_of_others_by_probability"),
)
LOSSES = ("il1s", "covariance_distance", "eigenvalue_distance", "correlation_drift")


def text(report: Report) -> str:
    """Return a summary in plain text."""
    lines = [f"{promise_text(report)}", ""]
    lines += [f"  method        {report.method}{_proved(report)}"]
    if report.levels:
        lines += ["  levels        " + ", ".join(f"{name} {level}" for name, level in report.levels.items())]
    lines += [
        *_loss(report),
        f"  rows          {report.published_rows:,} published, {report.suppressed_rows:,} "
        + ("of them as * throughout" if report.star_rows else "suppressed")
        + (f", {report.dropped_rows:,} dropped" if report.dropped_rows else ""),
        *_withheld(report),
        f"  classes       {report.classes.count:,}, of {report.classes.smallest:,} to {report.classes.largest:,} rows",
        f"  risk          highest {_percent(report.risk['before']['highest'])} before, "
        f"{_percent(report.risk['after']['highest'])} after",
        *_lines("INFERRED", findings.inferred(words_in(), report)),
        *_lines("PERSONS", findings.persons_uncounted(words_in(), report)),
        *_lines("ROWS", findings.shared_identifiers(words_in(), report)),
        *_lines("EXACT", findings.rare_values(words_in(), report)),
        *_lines("INFERENCE", findings.inference_risks(words_in(), report)),
        *_lines("discloses", findings.disclosure(words_on_persons() if report.counts_persons else words_in(), report)),
        *_nodes(report),
        *_policy(report),
        *(_lines("question", questions.summary_lines(words_in(), report)) if "questions" in report.details else ()),
        *_lines("LOST", findings.heavily_generalized_columns(words_in(), report)),
        *_lines("TRIED", findings.remedies(words_in(), report)),
        f"  seconds       {report.seconds.total:.2f} (search {report.seconds.search:.3f}, engine {report.engine})",
    ]
    return "\n".join([*lines, *(f"  note          {remark}" for remark in report.notes)]) + "\n"


def _proved(report: Report) -> str:
    """Return in parentheses whether the result is proved optimal, and among which levels."""
    if report.levels_chosen:
        return " (the plan says the levels)"
    within = " among the levels that the plan allows" if report.limits_levels else ""
    return f" (proved optimal{within})" if report.proved_optimal else ""


def _lines(head: str, sentences: Iterable[str]) -> list[str]:
    """Return sentences for the terminal; long lists of names are shortened here, but not in the report files."""
    return [f"  {head:<13} {line.short if isinstance(line, ListMessage) else line}" for line in sentences]


def line(report: Report) -> str:
    """Return a release in one line."""
    suppressed = f", {report.suppressed_rows:,} suppressed" if report.suppressed_rows else ""
    kept = "satisfied for rows, NOT FOR PERSONS" if report.uncounted else f"holds for {_unit(report)}"
    holds = kept if report.satisfied else "DOES NOT HOLD"
    rows = f"{report.published_rows:,} rows{suppressed}, {report.classes.count:,} classes"
    mean = report.mean_loss
    lost = f"mean loss {mean:.3g}" if mean is not None else f"{report.loss.name} {report.loss.value:.3g}"
    return f"{_promises(report)} {holds}; {rows}; {report.method}, {lost}"


def _loss(report: Report) -> list[str]:
    """Return the mean loss, and the loss that the method minimized, if it is another one."""
    mean, loss = report.mean_loss, report.loss
    lines = [] if mean is None else [f"  mean loss     {mean:.4g} (0 unchanged, 1 fully generalized)"]
    if mean is not None and isclose(mean, loss.value):
        return lines
    return [*lines, f"  objective     {loss.value:.6g} ({loss.name}), minimized by the method"]


def _withheld(report: Report) -> list[str]:
    """Return the number and the names of removed columns."""
    columns, words = report.removed_columns, words_in()
    told = enumeration(words, "{count} removed (* in every row): {columns}", columns)
    return _lines("columns", [told]) if columns else []


def _nodes(report: Report) -> list[str]:
    """Return how many nodes were evaluated, for methods that use nodes."""
    if not report.nodes["total"]:
        return []
    satisfying = report.details.get("satisfying_nodes")
    more = "" if satisfying is None else f", {satisfying:,} keep the promises"
    return [f"  nodes         {report.nodes['checked']:,} of {report.nodes['total']:,} checked{more}"]


def _policy(report: Report) -> list[str]:
    """Return the result of evaluating the plan's policy."""
    figures = report.details.get("policy")
    return [f"  policy        {figures['policy']}: {figures['verdict']}"] if figures else []


def promise_text(report: Report) -> str:
    """Return in one line all privacy models, whether they are satisfied, and how many columns await a decision."""
    further = (*findings.undecided(words_in(), report), *findings.warnings(words_in(), report))
    return " ".join([_satisfied(report), *further])


def _satisfied(report: Report) -> str:
    if report.satisfied and report.uncounted:
        named = report.uncounted[0]
        return f'{_promises(report)}: satisfied for rows, NOT FOR PERSONS: rows of one "{named}" were counted.'
    if report.inferred:
        return f"{_promises(report)}: DOES NOT HOLD for an attacker who reads the published columns together."
    shared = [*report.details.get("shared_identifiers", ())][:1]
    more = "".join(f'; {entry["rows"]:,} rows share their "{entry["column"]}"' for entry in shared)
    told = "persons published" if report.counts_persons else f"rows published (rows, not persons{more})"
    return f"{_promises(report)}: {'holds' if report.satisfied else 'DOES NOT HOLD'} for the {told}."


def _unit(report: Report) -> str:
    return "persons" if report.counts_persons else "rows, not persons"


def _promises(report: Report) -> str:
    alike: dict[str, list[str]] = {}
    for promise in report.models:
        alike.setdefault(f"{promise.model} {promise.requested:g}", []).append(promise.column or "")
    return ", ".join(told for promise, names in alike.items() for told in _of_columns(promise, names))


def _of_columns(promise: str, names: Sequence[str]) -> list[str]:
    """Return the text of a model for each of its columns, or one text if there are many columns."""
    if len(names) <= MOST_NAMES:
        return [f"{promise} of {name}" if name else promise for name in names]
    return [f"{promise} of each of {names_told(words_in(), names).short}"]


def _percent(share: float) -> str:
    return f"{share:.3%}" if share < 0.01 else f"{share:.1%}"


def html(dossier: ReportData) -> str:
    """Return the internal report as one page, to be signed."""
    words = dossier.words
    body = [
        f"<h1>{escape(words['report.title'])}</h1>",
        paragraph(sections.subtitle(dossier), soft=True),
        sections.verdict(dossier),
        sections.inference_risks(dossier),
        sections.lost(dossier),
        sections.remedies(dossier),
        sections.limits(dossier),
        approval.document(words, sign_off.document_rows(dossier)),
        sections.key_figures(dossier),
        measures.quality(dossier),
        sign_off.residual_risk(dossier),
        sections.columns(dossier),
        sections.risk(dossier),
        questions.questions(dossier) if "questions" in dossier.report.details else "",
        sections.utility(dossier),
        perturbation(dossier),
        policy(dossier),
        attack(dossier),
        sections.trade_off(dossier),
        approval.decisions(words, sign_off.decision_rows(dossier)),
        sections.notes(dossier),
        approval.signatures(words),
        sections.origin(dossier),
        approval.glossary(words),
    ]
    return page(f"Sfumato: {words['report.title']}", [part for part in body if part], words.language)


def policy(dossier: ReportData) -> str:
    """Return the result of evaluating the plan's policy, if it names one."""
    figures = dossier.report.details.get("policy")
    return policy_section(figures, dossier.words) if figures else ""


def attack(dossier: ReportData) -> str:
    """Return the attack section, or a placeholder for it."""
    figures = dossier.report.details.get("attack")
    return framed(attack_section(figures, dossier.words) if figures else "")


def fragment(report: Report) -> str:
    """Return a few lines for a notebook, without page and styles."""
    color = "#1f7a4d" if report.satisfied and not report.uncounted else "#b3261e"
    rows = "".join(
        f'<tr><th style="text-align:left;padding-right:1.5em">{escape(words)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for value, words in sections.metrics(ReportData(report))
    )
    return (
        f'<div style="border-left:.35rem solid {color};padding:.2rem 1rem;margin:.4rem 0">'
        f"<p><b>{escape(promise_text(report))}</b></p><table>{rows}</table></div>"
    )


def files(dossier: ReportData) -> dict[str, str]:
    """Return the reports of a release folder by name: internal and for publication, each also as JSON.

    For a differentially private file there is no report for publication, because metrics describe the original rows.
    """
    from sfumato.report.release import external

    outside = {}
    if all(promise.model != "differential-privacy" for promise in dossier.report.models):
        outside = {
            "report-external.html": external.html(dossier),
            "report-external.json": _json(external.metrics(dossier)),
        }
    checksums = {**dossier.checksums, **external_checksums(outside)} if dossier.checksums else {}
    return {"report.html": html(dossier), "report.json": _json(metrics(dossier) | checksums)} | outside


def external_checksums(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of the reports for publication, by their keys in report.json.

    Args:
        texts: Files by their names.
    """
    return {
        key: sha256(texts[name].encode("utf-8")).hexdigest()
        for key, name in EXTERNAL_CHECKSUMS.items()
        if name in texts
    }


def _json(content: dict[str, Any]) -> str:
    return to_json(content) + "\n"


def metrics(dossier: ReportData) -> dict[str, Any]:
    """Return the report as plain values, for report.json."""
    about: dict[str, Any] = {"date": dossier.day.isoformat()} if dossier.day else {}
    about |= {"release": dossier.about()} if dossier.about() else {}
    evidence = dossier.evidence.to_dict() if dossier.evidence else {}
    others = {"alternatives": [entry.to_dict() for entry in dossier.others]} if dossier.others else {}
    return dossier.report.to_dict() | about | evidence | others


def perturbation(dossier: ReportData) -> str:
    """Return the section on perturbation; empty if nothing is perturbed."""
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
    """Yield the proportions of rows that an attacker links, among rows without missing numbers."""
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
    """Yield charts of the quantiles of some columns before and after perturbation, relative to the original range."""
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


class Explanation(Value):
    """Sentences about a column, the most important first."""

    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<div>{paragraph(self.sentences[0])}{listing(self.sentences[1:])}</div>"


def explain(dossier: ReportData, name: str) -> Explanation:
    """Explain a column's role, what happened to it, its loss, and its guarantees."""
    return Explanation(tuple(_sentences(dossier, name)))


def _sentences(dossier: ReportData, name: str) -> Iterator[str]:
    assert dossier.plan is not None
    words, report, column = dossier.words, dossier.report, dossier.plan.columns[name]
    what = sections.fate(dossier, name)
    yield words["explain.head"].format(column=name, role=words.get(f"glossary.{column.role}", column.role), what=what)
    if name in dossier.plan.reasons:
        yield dossier.plan.reasons[name]
    if column.hierarchy is not None:
        yield words["explain.ladder"].format(ladder=hierarchy_words(column.hierarchy))
    yield from _figures(dossier, name)
    for promise in report.models:
        if promise.column == name:
            yield sentences.promised(words, promise, dossier.plan, dossier.star_rows)
    lost = [entry for entry in report.details.get("heavily_generalized_columns", ()) if entry["column"] == name]
    yield from (lost_column(words, entry) for entry in lost)


def _figures(dossier: ReportData, name: str) -> Iterator[str]:
    """Yield how much detail a quasi-identifier keeps, as metrics and examples of recoded values."""
    words, loss = dossier.words, dossier.report.loss
    if loss.name in sections.SHARES and name in loss.per_column:
        yield words["explain.loss"].format(share=words.percent(loss.per_column[name]))
    evidence = dossier.evidence.columns.get(name) if dossier.evidence else None
    if evidence is not None:
        counts = {"before": words.count(evidence.before), "after": words.count(evidence.after)}
        yield words["explain.values"].format(**counts)
        for before, after in evidence.examples:
            yield words["explain.example"].format(before=before, after=after)
