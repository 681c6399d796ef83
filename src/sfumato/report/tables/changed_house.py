"""The report of the house on a table whose numbers were changed: how far they are off, and who knows what."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from sfumato.report.page.html_parts import paragraph
from sfumato.report.page.signing import Decision
from sfumato.report.tables.house import Papers, Story, house_page, said_of
from sfumato.report.tables.perturbed import (
    UNCHANGED,
    limits,
    loss_sentences,
    method_words,
    reader_sentences,
    verdict_words,
)
from sfumato.tables.perturbed.perturbed import ChangedTable
from sfumato.tables.plan.plan import TablePlan
from sfumato.texts.words import Words, words_in


def changed_house(changed: ChangedTable, report: Mapping[str, Any], papers: Papers) -> str:
    """The whole report as one page; it tells how far numbers are off, and never what they were drawn from."""
    words, plan = words_in(changed.plan.output.language), changed.plan
    said, *why = verdict_words(words, changed, changed.promised)
    noise, mark = report["noise"], "verdict" if changed.attacked else "verdict not"
    checked = [*why, words["noised.checked"], *([words.sentence(UNCHANGED)] if UNCHANGED in report["warnings"] else [])]
    story = Story(
        words["noised.house_title"],
        f'<div class="{mark}"><strong>{escape(said)}</strong>{"".join(map(paragraph, checked))}</div>',
        list(limits(words, changed.promised)),
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
        list(_decisions(words, plan, report)),
    )
    return house_page(words, plan, report, story, papers)


def _decisions(words: Words, plan: TablePlan, report: Mapping[str, Any]) -> Iterator[Decision]:
    method = plan.perturbation
    assert method is not None
    yield words["noised.method"], method_words(report, words), words[f"masking.{method.name}.says"]
    for key, value in asdict(method).items():
        told = {"deviation": "D", "variance": "V"}.get(key, key)
        title = words.get(f"masking.{method.name}.{told}")
        if title and value is not None and key != "secret":
            yield title, said_of(words, value), ""
