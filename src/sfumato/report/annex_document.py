"""The annex for an impact assessment as a Word document, on A4, in the language of the release."""

from collections.abc import Sequence
from typing import Any

from sfumato.errors import extra_part
from sfumato.report.annex import Annex

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
