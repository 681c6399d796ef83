"""The report of a release: text for the terminal, the page for the house, a fragment for notebooks, the files."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.microdata.methods.full_domain.alternatives import Alternative
from sfumato.microdata.outcome import Report
from sfumato.microdata.plan.model import Plan
from sfumato.report import optimality, release_sections, sentences
from sfumato.report.before_after import Evidence
from sfumato.report.html_parts import page, paragraph
from sfumato.texts.words import words_in


def text(report: Report) -> str:
    """A summary in plain text."""
    lines = [f"{promise_text(report)}", ""]
    lines += [f"  method        {report.method}{' (proved optimal)' if report.proved_optimal else ''}"]
    if report.levels:
        lines += ["  levels        " + ", ".join(f"{name} {level}" for name, level in report.levels.items())]
    lines += [
        f"  loss          {report.loss.value:.6g} ({report.loss.name})",
        f"  rows          {report.published_rows:,} published, {report.suppressed_rows:,} "
        + ("of them as * throughout" if report.star_rows else "suppressed")
        + (f", {report.dropped_rows:,} dropped" if report.dropped_rows else ""),
        *_withheld(report),
        f"  classes       {report.classes.count:,}, of {report.classes.smallest:,} to {report.classes.largest:,} rows",
        f"  risk          highest {_percent(report.risk['before']['highest'])} before, "
        f"{_percent(report.risk['after']['highest'])} after",
        *(f"  discloses     {line}" for line in sentences.disclosure(words_in(), report)),
        *_nodes(report),
        f"  seconds       {report.seconds.total:.2f} (search {report.seconds.search:.3f}, engine {report.engine})",
    ]
    return "\n".join([*lines, *(f"  note          {remark}" for remark in report.remarks)]) + "\n"


def _withheld(report: Report) -> list[str]:
    """How many columns are withheld, and which."""
    columns = report.withheld_columns
    return [f"  columns       {len(columns)} withheld (* in every row): {', '.join(columns)}"] if columns else []


def _nodes(report: Report) -> list[str]:
    """How many nodes were looked at, for methods that look at nodes."""
    if not report.nodes["total"]:
        return []
    satisfying = report.details.get("satisfying_nodes")
    more = "" if satisfying is None else f", {satisfying:,} keep the promises"
    return [f"  nodes         {report.nodes['checked']:,} of {report.nodes['total']:,} checked{more}"]


def promise_text(report: Report) -> str:
    """All promises, and whether they hold, in a line."""
    said = ", ".join(_promise(promise.model, promise.asked, promise.column) for promise in report.models)
    return f"{said}: {'holds' if report.holds else 'DOES NOT HOLD'} for the rows published."


def _promise(model: str, asked: float, column: str | None) -> str:
    return f"{model} {asked:g}" + (f" of {column}" if column else "")


def _percent(share: float) -> str:
    return f"{share:.3%}" if share < 0.01 else f"{share:.1%}"


def html(
    report: Report,
    plan: Plan | None = None,
    evidence: Evidence | None = None,
    others: tuple[Alternative, ...] = (),
) -> str:
    """The report for the house as one page; the more is known of the release, the more it tells."""
    words = words_in()
    body = [
        "<h1>Release report</h1>",
        paragraph(release_sections.subtitle(report, plan), soft=True),
        release_sections.verdict(words, report, plan),
        release_sections.key_figures(report),
        optimality.quality(report),
        release_sections.columns(words, report, plan, evidence),
        release_sections.risk(words, report, evidence),
        release_sections.utility(report, evidence),
        release_sections.trade_off(report, plan, others),
        release_sections.limits(words, report),
        release_sections.notes(report),
        release_sections.origin(words, report, plan),
    ]
    return page("Sfumato: release report", [part for part in body if part])


def fragment(report: Report) -> str:
    """A few lines for a notebook: no page of its own, no style that leaks into others."""
    color = "#1f7a4d" if report.holds else "#b3261e"
    rows = "".join(
        f'<tr><th style="text-align:left;padding-right:1.5em">{escape(words)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for value, words in release_sections.figures(report)
    )
    return (
        f'<div style="border-left:.35rem solid {color};padding:.2rem 1rem;margin:.4rem 0">'
        f"<p><b>{escape(promise_text(report))}</b></p><table>{rows}</table></div>"
    )


def files(
    report: Report,
    plan: Plan,
    evidence: Evidence | None = None,
    others: tuple[Alternative, ...] = (),
    seals: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The reports of a release folder by their names: for the house and to hand out, with twins for programs.

    Args:
        seals: What ties the other files of the folder to the report: SHA-256 of each, by the report's key for it.
    """
    from sfumato.report import external

    return {
        "report.html": html(report, plan, evidence, others),
        "report-external.html": external.html(report, plan),
        "report.json": _json(figures(report, evidence, others) | dict(seals or {})),
        "report-external.json": _json(external.figures(report, plan)),
    }


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def figures(report: Report, evidence: Evidence | None = None, others: tuple[Alternative, ...] = ()) -> dict[str, Any]:
    """The report in plain values: what report.json holds."""
    more = evidence.to_dict() if evidence else {}
    return report.to_dict() | more | ({"alternatives": [entry.to_dict() for entry in others]} if others else {})
