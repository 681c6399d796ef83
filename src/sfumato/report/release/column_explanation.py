"""Explain in a few sentences what happened to one column of a release."""

from collections.abc import Iterator

from sfumato.dataclass import dataclass
from sfumato.hierarchies.summary import hierarchy_words
from sfumato.report.page.html_page import listing, paragraph
from sfumato.report.release import sentences
from sfumato.report.release.findings import lost_column
from sfumato.report.release.report_data import ReportData
from sfumato.report.release.sections import sections


@dataclass(frozen=True, slots=True)
class Explanation:
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
    """Yield what is left of a quasi-identifier, in numbers and examples."""
    words, loss = dossier.words, dossier.report.loss
    if loss.name in sections.SHARES and name in loss.per_column:
        yield words["explain.loss"].format(share=words.percent(loss.per_column[name]))
    evidence = dossier.evidence.columns.get(name) if dossier.evidence else None
    if evidence is not None:
        counts = {"before": words.count(evidence.before), "after": words.count(evidence.after)}
        yield words["explain.values"].format(**counts)
        for before, after in evidence.examples:
            yield words["explain.example"].format(before=before, after=after)
