"""The annex for a data protection impact assessment: chapters for the officer to paste, as Markdown."""

import re
from collections.abc import Sequence
from typing import Any

from sfumato.errors import extra_part
from sfumato.localization.messages import Messages
from sfumato.report.html_page import SIGNERS, Decision
from sfumato.values import Value

# Characters that Markdown interprets; an underscore inside a word is plain.
_MARKS = re.compile(r"[\\`*<>\[\]|&~]|(?<!\w)_|_(?!\w)")
ANNEX, WORD_ANNEX = "annex.md", "annex.docx"


class Chapter(Value):
    """A chapter: its heading, paragraphs, list items, and tables (the first row of each is its head)."""

    title: str
    paragraphs: Sequence[str] = ()
    points: Sequence[str] = ()
    tables: Sequence[Sequence[Sequence[str]]] = ()


class Annex(Value):
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


# A4 with its margins, and the widths of columns, in millimeters.
PAPER, MARGIN = (210, 297), 20
WIDTHS = {2: (52, 118), 3: (42, 58, 70), 4: (44, 40, 40, 46), 6: (50, 24, 18, 18, 30, 30)}
LOCALES = {"de": "de-DE", "en": "en-US"}
HASH_LENGTH = 64


def document(annex: Annex) -> Any:
    """Return the annex as a Word document, to be saved.

    Raises:
        EngineError: The package that writes it is not installed.
    """
    with extra_part("python-docx", "word"):
        import docx
    made = docx.Document()
    _set_up(made, annex)
    made.add_heading(annex.words["annex.title"], 0)
    for chapter in annex.chapters:
        made.add_heading(chapter.title, 1)
        for text in chapter.paragraphs:
            made.add_paragraph(text).paragraph_format.keep_with_next = bool(chapter.tables)
        for point in chapter.points:
            made.add_paragraph(point, style="List Bullet")
        for rows in chapter.tables:
            _add_table(made, rows)
    return made


def _set_up(made: Any, annex: Annex) -> None:
    """Set paper, fonts and language, and the properties of the document."""
    from docx.oxml.ns import qn
    from docx.shared import Mm, Pt

    for section in made.sections:
        section.page_width, section.page_height = Mm(PAPER[0]), Mm(PAPER[1])
        section.left_margin = section.right_margin = Mm(MARGIN)
        section.top_margin = section.bottom_margin = Mm(MARGIN)
    properties = made.core_properties
    properties.title, properties.author = annex.words["annex.title"], annex.by
    properties.language, properties.comments = annex.words.language, ""
    made.styles["Normal"].font.size = Pt(10)
    for language in made.styles.element.xpath("//w:docDefaults//w:lang"):  # used by Word's spell checker
        language.set(qn("w:val"), LOCALES.get(annex.words.language, annex.words.language))


def _add_table(made: Any, rows: Sequence[Sequence[str]]) -> None:
    """Add a table with a bold head repeated on every page; rows are not split."""
    table = made.add_table(rows=len(rows), cols=len(rows[0]))
    table.style, table.autofit = "Table Grid", False
    widths = WIDTHS[len(rows[0])]
    for place, (line, row) in enumerate(zip(table.rows, rows, strict=True)):
        _mark(line, "w:cantSplit", *(["w:tblHeader"] if not place else []))
        for cell, text, width in zip(line.cells, row, widths, strict=True):
            _fill(cell, text, width, bold=not place)
    made.add_paragraph()


def _mark(line: Any, *names: str) -> None:
    from docx.oxml import OxmlElement

    for name in names:
        line._tr.get_or_add_trPr().append(OxmlElement(name))


def _fill(cell: Any, text: str, width: float, bold: bool) -> None:
    from docx.shared import Mm, Pt

    cell.width = Mm(width)
    written = cell.paragraphs[0].add_run(text)
    written.bold = bold
    cell.paragraphs[0].paragraph_format.keep_with_next = bold
    if len(text) == HASH_LENGTH and text.isalnum():
        written.font.size, written.font.name = Pt(7.5), "Consolas"
