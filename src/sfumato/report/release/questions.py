"""The questions of analysts in the internal report: both answers to each, and the verdict."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.microdata.release_report import Report
from sfumato.report.html_page import listing, long_table, paragraph, section
from sfumato.report.release.column_evidence import ReportData


def summary_lines(words: Messages, report: Report) -> list[str]:
    """Return one line for each question: its verdict, and the first reason."""
    return [
        f"{_verdict(words, entry)}: {_formula(entry)}" + "".join(f" ({one})" for one in _reasons(words, entry)[:1])
        for entry in report.details["questions"]
    ]


def questions(dossier: ReportData) -> str:
    """Return the section with both answers to each question."""
    words, entries = dossier.words, dossier.report.details["questions"]
    return section(words["questions.title"], paragraph(words["questions.text"]), *(_one(words, one) for one in entries))


def _one(words: Messages, entry: Mapping[str, Any]) -> str:
    head = f"<h3><code>{escape(_formula(entry))}</code>: {escape(_verdict(words, entry))}</h3>"
    further = [f"{key}: {part}" for key, part in _keys(entry).items() if key != "formula"]
    columns = [words[f"questions.{name}"] for name in ("term", "raw", "published")]
    rows = [*_rows(words, entry)]
    return (
        head
        + (paragraph(", ".join(further), soft=True) if further else "")
        + (listing(_reasons(words, entry)) if entry["reasons"] else "")
        + (long_table(columns, rows, words) if rows else "")
    )


def _rows(words: Messages, entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each term or group with both estimates."""
    raw, published = (entry.get(side, {}).get("estimates", {}) for side in ("raw", "published"))
    for name in dict.fromkeys([*raw, *published]):
        yield name, _estimate(words, raw.get(name)), _estimate(words, published.get(name))


def _estimate(words: Messages, estimate: Mapping[str, float] | None) -> str:
    """Return an estimate with its 95 % interval."""
    if estimate is None:
        return "–"
    low, high = words.amount(estimate["low"]), words.amount(estimate["high"])
    return f"{words.amount(estimate['estimate'])} [{low}; {high}]"


def _verdict(words: Messages, entry: Mapping[str, Any]) -> str:
    return words[f"questions.{entry['verdict']}"]


def _reasons(words: Messages, entry: Mapping[str, Any]) -> list[str]:
    return [words.rendered(one["code"], one["values"]) for one in entry["reasons"]]


def _keys(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    question = entry["question"]
    return {"formula": question} if isinstance(question, str) else question


def _formula(entry: Mapping[str, Any]) -> str:
    return str(_keys(entry)["formula"])
