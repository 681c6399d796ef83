"""Content of the annex for a release of tables: its facts in the order of an impact assessment; internal."""

from collections.abc import Mapping
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.report.annex import Annex, Chapter, checksums, necessity, processing, signatures
from sfumato.report.tables import perturbed
from sfumato.report.tables.internal_report import (
    DocumentContext,
    ReportWriter,
    changed_story,
    document_rows,
    masked_story,
)
from sfumato.report.tables.limitations import less_promised


def outcome_sentences(report: Mapping[str, Any], words: Messages) -> list[tuple[str, bool | None]]:
    """Return the result of a table in sentences, each good, bad or neutral."""
    if "noise" in report:
        promised = not report["warnings"]
        return [
            (words["noised.holds"], True) if promised else (words.text(report["warnings"][0]), None),
            *((text, None) for text in perturbed.sentences({**report, "warnings": []}, words)),
        ]
    audit = {key: words.count(count) for key, count in report["audit"].items()}
    counts = {key: words.count(report[key]) for key in ("masked", "cells", "primary", "secondary")}
    proved = (
        "table_proved" if report["proved_optimal"] else "table_gap" if report["gap"] is not None else "table_unproved"
    )
    gap = words.figure(f"{100 * (report['gap'] or 0):.1f}")
    if not report["masked"]:
        said, *more = report["warnings"]
        return [(words.text(text), None) for text in (said, words["masked"].format(**counts), *more)]
    # Older jobs lack it.
    attacked = report.get("attacked", True)
    fails = "table_leaks" if attacked else "tabled.unattacked"
    return [
        (words["table_holds" if report["satisfied"] else fails], bool(report["satisfied"])),
        (words["masked"].format(**counts), None),
        (words["audit"].format(checked=audit["checked"], exact=audit["exact"], narrow=audit["too_narrow"]), None),
        (words[proved].format(gap=gap), None),
        *((text, None) for text in less_promised(words, report)),
        *(
            (words.text(warning), None)
            for warning in (report["warnings"] if report["satisfied"] or not attacked else ())
        ),
    ]


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
