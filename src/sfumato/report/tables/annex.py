"""Content of the annex for a release of tables: its facts in the order of an impact assessment; internal."""

from sfumato.report.annex import Annex, Chapter, checksums, necessity, processing, signatures
from sfumato.report.tables.internal_report import DocumentContext, ReportWriter, document_rows
from sfumato.report.tables.perturbed_internal import changed_story
from sfumato.report.tables.summary import outcome_sentences
from sfumato.report.tables.suppressed_internal import masked_story


def tables_annex(teller: ReportWriter, papers: DocumentContext) -> Annex:
    """Return the annex for a release of tables, from its plan and its report.json."""
    words, plan = teller.words, teller.plan
    story = changed_story(teller) if "noise" in teller.report else masked_story(teller)
    chapters = [
        processing(words, document_rows(teller, papers)),
        necessity(words, story.lost, story.decisions),
        Chapter(words["annex.risks"], points=story.attackers),
        Chapter(words["annex.measures"], points=_measures(teller)),
        Chapter(words["annex.residual"], points=[*story.residual, *story.limits]),
        Chapter(
            words["annex.evidence"], [words["tabled.house"]], tables=[checksums(words, list(papers.checksums.items()))]
        ),
        signatures(words),
    ]
    return Annex(words, plan.release.stated().get("by", ""), chapters)


def _measures(teller: ReportWriter) -> list[str]:
    """Return whether the guarantee is satisfied, and what it is."""
    words, report, plan = teller.words, teller.report, teller.plan
    (verdict, _), *_ = outcome_sentences(report, words)
    promised = report["satisfied"] and report.get("masked") and plan.primary
    said = [verdict, *map(words.text, report["warnings"]), *([words["tabled.promise"]] if promised else [])]
    return list(dict.fromkeys(said))
