"""Content of the annex for a release of rows: its facts in the order of an impact assessment."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from sfumato.microdata.measures.column_outcomes import Fate
from sfumato.report.annex import Annex, Chapter, checksums, necessity, processing, signatures
from sfumato.report.attack import HEAD, attack_words, verdict, why_words
from sfumato.report.release import findings, sentences
from sfumato.report.release.report_data import ReportData
from sfumato.report.release.sign_off import (
    attacker_sentences,
    decision_rows,
    document_rows,
    residual_sentences,
)


def rows_annex(dossier: ReportData) -> Annex:
    """Return the annex for a release of rows."""
    words, report = dossier.words, dossier.report
    models = tuple(promise.model for promise in report.models)
    promises = sentences.promises(words, report.models, dossier.plan, dossier.star_rows)
    chapters = [
        processing(words, document_rows(dossier)),
        necessity(words, [_necessity(dossier)], decision_rows(dossier)),
        Chapter(words["annex.risks"], points=attacker_sentences(words)),
        Chapter(words["annex.measures"], [words["report.checked"]], promises),
        Chapter(
            words["annex.residual"],
            points=[
                *residual_sentences(dossier),
                *findings.disclosure(words, report),
                *sentences.limits(words, models, dossier.plan),
            ],
        ),
        _evidence(dossier),
        signatures(words),
    ]
    return Annex(words, dossier.about().get("by", ""), chapters)


def _evidence(dossier: ReportData) -> Chapter:
    """Return the chapter on attacks, if any were run, and the checksums of the files."""
    words = dossier.words
    sealed = checksums(words, list(_seals(dossier)))
    figures: Mapping[str, Any] | None = dossier.report.details.get("attack")
    if figures is None:
        return Chapter(words["annex.evidence"], [words["annex.no_attack"]], tables=[sealed])
    attacks = [[words[f"attack.{key}"] for key in HEAD], *(attack_words(one, words) for one in figures["attacks"])]
    absences = [f"{words['attack.not_run']} {why_words(absence, words)}" for absence in figures["not_run"]]
    told = [verdict(figures, words), words["attack.evidence"]]
    return Chapter(words["annex.evidence"], told, absences, [attacks, sealed])


def _necessity(dossier: ReportData) -> str:
    """Return what happened to columns and rows."""
    words, report = dossier.words, dossier.report
    fates = [*sentences.fates(report).values()]
    columns = {"columns": len(fates)} | {fate: fates.count(fate) for fate in get_args(Fate)}
    rows = {"suppressed": report.suppressed_rows, "rows": report.rows}
    key = "annex.necessity_text" if fates else "annex.necessity_rows"
    return words[key].format(**{name: words.count(many) for name, many in (columns | rows).items()})


def _seals(dossier: ReportData) -> Iterator[tuple[str, str]]:
    words = dossier.words
    yield words["report.sha_input"], dossier.report.input_sha256
    for key, seal in dossier.checksums.items():
        yield words[f"report.sha_{key.removesuffix('_sha256')}"], seal
