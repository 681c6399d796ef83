"""The report for publication on a perturbed table, as a page in the language of its plan."""

from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.localization.messages import Messages, words_in
from sfumato.report.page.html_page import page, paragraph, section, table
from sfumato.report.tables.page import document, not_promised, published, sealed
from sfumato.report.tables.perturbed import additivity_line, limits, method_words, verdict_words
from sfumato.tables.perturbation.perturbed import PerturbedResult


def html(changed: PerturbedResult, report: Mapping[str, Any]) -> str:
    """Return the full report as one page: what is published and can be computed from it, independent of true values.

    Whether a rule classifies some cell as sensitive, and whether any number was changed, is internal.
    """
    words = words_in(changed.plan.output.language)
    title = words["noised.title"]
    promised = bool(changed.plan.primary or changed.plan.table.cells)
    verdict = verdict_words(words, changed, promised)
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(f"Sfumato {report['version']}", soft=True),
        document(words, changed.plan, report),
        f'<div class="verdict{"" if changed.attacked else " not"}">{"".join(map(paragraph, verdict))}</div>',
        not_promised(words, limits(words, promised)),
        section(
            words["tabled.figures"],
            table([words["measure.figure"], words["measure.value"]], _figure_rows(words, report), words),
        ),
        *published(words, changed.external, changed.names(1)),
        *sealed(words, report),
    ]
    return page(title, body, words.language)


def _figure_rows(words: Messages, report: Mapping[str, Any]) -> list[tuple[str, object]]:
    # The size of changes and the number of sensitive cells would reveal suppressed values: they are only in
    # report.json.
    return [
        (words["tabled.cells"], report["cells"]),
        (words["noised.method"], method_words({**report, "further_steps": None}, words)),
        (words["noised.totals"], additivity_line(report["additivity"], words)),
    ]
