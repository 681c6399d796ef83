"""The annex for a data protection impact assessment: the facts of a release in an order that an officer can paste."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from sfumato.dataclass import dataclass
from sfumato.microdata.measures.column_fates import Fate
from sfumato.report.attack import HEAD, attack_words, verdict, why_words
from sfumato.report.page.signing import SIGNERS
from sfumato.report.release import findings, sentences
from sfumato.report.release.dossier import Dossier
from sfumato.report.release.sign_off import (
    attacker_sentences,
    decision_rows,
    document_rows,
    residual_sentences,
)

# What Markdown takes for a mark; an underscore inside a word is none.
_MARKS = re.compile(r"[\\`*<>\[\]|&~]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class Part:
    """A chapter: its heading, paragraphs, points, and tables (the first row of each is its head)."""

    title: str
    paragraphs: Sequence[str] = ()
    points: Sequence[str] = ()
    tables: Sequence[Sequence[Sequence[str]]] = ()


def parts(dossier: Dossier) -> list[Part]:
    """The chapters of the annex."""
    words, report = dossier.words, dossier.report
    models = tuple(promise.model for promise in report.models)
    promises = sentences.promises(words, report.models, dossier.plan, dossier.star_rows)
    decisions = [[words[f"sign.{key}"] for key in ("decision", "choice", "reason")], *decision_rows(dossier)]
    blanks = [words["annex.who"], *(words[f"sign.{key}"] for key in ("name", "place_date", "signature"))]
    signers = [blanks] + [[words[f"sign.{who}"], "", "", ""] for who in SIGNERS]
    return [
        Part(words["annex.processing"], tables=[[[words["annex.item"], words["annex.says"]], *document_rows(dossier)]]),
        Part(words["annex.necessity"], [_necessity(dossier)], tables=[decisions]),
        Part(words["annex.risks"], points=attacker_sentences(words)),
        Part(words["annex.measures"], [words["report.checked"]], promises),
        Part(
            words["annex.residual"],
            points=[
                *residual_sentences(dossier),
                *findings.disclosure(words, report),
                *sentences.limits(words, models, dossier.plan),
            ],
        ),
        _evidence(dossier),
        Part(words["annex.sign"], [words["annex.sign_hint"]], tables=[signers]),
    ]


def _evidence(dossier: Dossier) -> Part:
    """What attackers reached, where any were tried, and the hashes of the files."""
    words = dossier.words
    seals = [[words["annex.file"], "SHA-256"], *_seals(dossier)]
    figures: Mapping[str, Any] | None = dossier.report.details.get("attack")
    if figures is None:
        return Part(words["annex.evidence"], [words["annex.no_attack"]], tables=[seals])
    attacks = [[words[f"attack.{key}"] for key in HEAD], *(attack_words(one, words) for one in figures["attacks"])]
    absences = [f"{words['attack.not_run']} {why_words(absence, words)}" for absence in figures["not_run"]]
    told = [verdict(figures, words), words["attack.evidence"]]
    return Part(words["annex.evidence"], told, absences, [attacks, seals])


def _necessity(dossier: Dossier) -> str:
    """What became of the columns and rows, as they were published."""
    words, report = dossier.words, dossier.report
    fates = [*sentences.fates(report).values()]
    columns = {"columns": len(fates)} | {fate: fates.count(fate) for fate in get_args(Fate)}
    rows = {"suppressed": report.suppressed_rows, "rows": report.rows}
    key = "annex.necessity_text" if fates else "annex.necessity_rows"
    return words[key].format(**{name: words.count(many) for name, many in (columns | rows).items()})


def _seals(dossier: Dossier) -> Iterator[tuple[str, str]]:
    words = dossier.words
    yield words["report.sha_input"], dossier.report.input_sha256
    for key, seal in dossier.seals.items():
        yield words[f"report.sha_{key.removesuffix('_sha256')}"], seal


def markdown(dossier: Dossier) -> str:
    """The annex as Markdown."""
    blocks = [f"# {dossier.words['annex.title']}"]
    for part in parts(dossier):
        blocks += [f"## {part.title}", *map(_plain, part.paragraphs)]
        blocks += ["\n".join(f"- {_plain(point)}" for point in part.points)] if part.points else []
        blocks += [_markdown_table(rows) for rows in part.tables]
    return "\n\n".join(blocks) + "\n"


def _plain(text: str) -> str:
    r"""A text that Markdown shows as it is, on one line.

    >>> print(_plain("Diagnose <ICD> | *"), _plain("date_of_birth"))
    Diagnose \<ICD\> \| \* date_of_birth
    """
    return _MARKS.sub(lambda mark: "\\" + mark[0], " ".join(text.splitlines()))


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
