"""The internal report on a perturbed table: the size of the changes, and what attackers know."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from sfumato.localization.messages import Messages, words_in
from sfumato.report.page.approval import Decision
from sfumato.report.page.html_page import paragraph
from sfumato.report.tables.internal_report import (
    DocumentContext,
    ReportContent,
    ReportWriter,
    all_decisions,
    house_page,
    said_of,
)
from sfumato.report.tables.perturbed import (
    NO_PROMISE,
    UNCHANGED,
    limits,
    loss_sentences,
    method_words,
    reader_sentences,
    verdict_words,
)
from sfumato.tables.perturbation.perturbed import PerturbedResult
from sfumato.tables.plan.table_plan import TablePlan


def changed_house(changed: PerturbedResult, report: Mapping[str, Any], papers: DocumentContext) -> str:
    """Return the full report as one page; it states the size of the changes, never the secret behind them."""
    words = words_in(changed.plan.output.language)
    teller = ReportWriter(words, changed.plan, report)
    said, *why = verdict_words(words, changed, changed.promised)
    mark = "verdict" if changed.attacked else "verdict not"
    checked = [*why, words["noised.checked"], *([words.text(UNCHANGED)] if UNCHANGED in report["warnings"] else [])]
    box = f'<div class="{mark}"><strong>{escape(said)}</strong>{"".join(map(paragraph, checked))}</div>'
    return house_page(teller, changed_story(teller), box, papers)


def changed_story(teller: ReportWriter) -> ReportContent:
    """Return the content for a perturbed table from its plan and its report.json."""
    words, plan, report = teller.words, teller.plan, teller.report
    noise = report["noise"]
    return ReportContent(
        words["noised.house_title"],
        list(limits(words, NO_PROMISE not in report["warnings"])),
        [
            (words.count(report["cells"]), words["tabled.cells"]),
            (words.count(noise["changed"]), words["case.changed"]),
            (words.amount(noise["mean_absolute"]), words["noised.mean_absolute"]),
            (words.amount(noise["largest"]), words["noised.largest"]),
            (words.count(report["reader"]["unsafe"]), words["tabled.unsafe"]),
        ],
        loss_sentences(report, words),
        reader_sentences(report, words),
        [words["noised.who.reader"], words["noised.who.not"]],
        all_decisions(words, plan, _decisions(words, plan, report)),
    )


def _decisions(words: Messages, plan: TablePlan, report: Mapping[str, Any]) -> Iterator[Decision]:
    method = plan.perturbation
    assert method is not None
    yield words["noised.method"], method_words(report, words), words[f"masking.{method.name}.says"]
    for key, value in asdict(method).items():
        told = {"deviation": "D", "variance": "V"}.get(key, key)
        title = words.get(f"masking.{method.name}.{told}")
        if title and value is not None and key != "secret":
            yield title, said_of(words, value), ""
