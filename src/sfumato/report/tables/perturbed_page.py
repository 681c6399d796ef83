"""The report on a table whose numbers were changed as a page, in the language of its plan; it may be handed out."""

from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.report.page.html_parts import page, paragraph, section, table
from sfumato.report.tables.page import issued, published, sealed
from sfumato.report.tables.perturbed import NO_PROMISE, UNCHANGED, additivity_line, method_words
from sfumato.tables.perturbed.perturbed import ChangedTable
from sfumato.texts.words import Words, words_in


def html(changed: ChangedTable, report: Mapping[str, Any]) -> str:
    """The whole report as one page; it shows what is published and what any reader computes, no true value."""
    words = words_in(changed.plan.output.language)
    title = words["noised.title"]
    verdict = words["noised.holds"] if changed.promised else words.sentence(NO_PROMISE)
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(f"Sfumato {report['version']}{issued(words, report)}", soft=True),
        f'<div class="verdict">{paragraph(verdict)}</div>',
        section(
            words["tabled.figures"],
            table([words["measure.figure"], words["measure.value"]], _figure_rows(words, report), words),
        ),
        *published(words, changed.external, changed.names(1)),
        *sealed(words, report),
        _to_hand_out(words, report),
    ]
    return page(title, body, words.language)


def _to_hand_out(words: Words, report: Mapping[str, Any]) -> str:
    """Which files are for readers; none by itself where every number is the true one."""
    if UNCHANGED in report["warnings"]:
        return f'<div class="verdict">{paragraph(words.sentence(UNCHANGED))}</div>'
    return paragraph(words["noised.hand_out"], soft=True)


def _figure_rows(words: Words, report: Mapping[str, Any]) -> list[tuple[str, object]]:
    # How far cells are off, and how many are unsafe, would tell about hidden values: that stays in report.json.
    return [
        (words["tabled.cells"], report["cells"]),
        (words["noised.method"], method_words(report, words)),
        (words["noised.totals"], additivity_line(report["additivity"], words)),
    ]
