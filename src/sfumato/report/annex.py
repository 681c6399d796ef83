"""The annex for a data protection impact assessment: chapters for the officer to paste, as Markdown."""

import re
from collections.abc import Sequence

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages
from sfumato.report.page.approval import SIGNERS, Decision

# Characters that Markdown interprets; an underscore inside a word is plain.
_MARKS = re.compile(r"[\\`*<>\[\]|&~]|(?<!\w)_|_(?!\w)")
ANNEX, WORD_ANNEX = "annex.md", "annex.docx"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its heading, paragraphs, list items, and tables (the first row of each is its head)."""

    title: str
    paragraphs: Sequence[str] = ()
    points: Sequence[str] = ()
    tables: Sequence[Sequence[Sequence[str]]] = ()


@dataclass(frozen=True, slots=True)
class Annex:
    """The chapters of an annex, the messages of its language, and who released, if stated."""

    words: Messages
    by: str
    chapters: Sequence[Chapter]


def processing(words: Messages, rows: Sequence[Sequence[str]]) -> Chapter:
    """Return the chapter on what was released, by whom and for what purpose."""
    return Chapter(words["annex.processing"], tables=[[[words["annex.item"], words["annex.says"]], *rows]])


def necessity(words: Messages, told: Sequence[str], decisions: Sequence[Decision]) -> Chapter:
    """Return the chapter on what is no longer published, and on the decisions with their reasons."""
    head = [words[f"sign.{key}"] for key in ("decision", "choice", "reason")]
    return Chapter(words["annex.necessity"], told, tables=[[head, *decisions]])


def checksums(words: Messages, rows: Sequence[tuple[str, str]]) -> list[Sequence[str]]:
    """Return the table of the checksums of files."""
    return [[words["annex.file"], "SHA-256"], *rows]


def signatures(words: Messages) -> Chapter:
    """Return the chapter with a line for each person who signs."""
    head = [words["annex.who"], *(words[f"sign.{key}"] for key in ("name", "place_date", "signature"))]
    signers = [[words[f"sign.{who}"], "", "", ""] for who in SIGNERS]
    return Chapter(words["annex.sign"], [words["annex.sign_hint"]], tables=[[head, *signers]])


def markdown(annex: Annex) -> str:
    """Return the annex as Markdown."""
    blocks = [f"# {annex.words['annex.title']}"]
    for chapter in annex.chapters:
        blocks += [f"## {chapter.title}", *map(_plain, chapter.paragraphs)]
        blocks += ["\n".join(f"- {_plain(point)}" for point in chapter.points)] if chapter.points else []
        blocks += [_markdown_table(rows) for rows in chapter.tables]
    return "\n\n".join(blocks) + "\n"


def _plain(text: str) -> str:
    r"""Return a text escaped for Markdown, on one line.

    >>> print(_plain("Diagnose <ICD> | *"), _plain("date_of_birth"))
    Diagnose \<ICD\> \| \* date_of_birth
    """
    return _MARKS.sub(lambda mark: "\\" + mark[0], " ".join(text.splitlines()))


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
