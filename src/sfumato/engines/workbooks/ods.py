"""Properties of cells in .ods files: value, displayed text, and repetition."""

from collections.abc import Iterator
from xml.parsers.expat import XMLParserType

from sfumato.engines.workbooks.archive import Archive, Attributes
from sfumato.engines.workbooks.cell_references import Mark, Place
from sfumato.patterns import regex

CONTENT, STYLES = "content.xml", "styles.xml"
CELLS = ("table:table-cell", "table:covered-table-cell")
ZEROS = tuple(f'min-integer-digits="{digits}"'.encode() for digits in range(2, 31))
SIGNS = (b"table:formula", b"-spanned", b'"error"')
LEADING = regex(r"0[0-9]+")


def marks_in_ods(archive: Archive, sheet: str) -> Iterator[Mark]:
    """Yield the marks of a sheet's cells.

    Raises:
        ValueError: The file is no XML, or an attribute is not a number.
    """
    if not archive.holds(CONTENT, (*SIGNS, *ZEROS)) and not (STYLES in archive and archive.holds(STYLES, ZEROS)):
        return
    cells = _Cells(sheet)
    for _ in archive.tell(CONTENT, cells):
        yield from cells.marks
        cells.marks.clear()


class _Cells:
    """Parses the sheets of a file, and marks cells of one of them."""

    def __init__(self, sheet: str) -> None:
        self.marks: list[Mark] = []
        self._sheet, self._inside = sheet, False
        self._row = self._column = 0
        self._rows = 1
        self._cell: Attributes = {}
        self._text = ""

    def listen(self, parser: XMLParserType) -> None:
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._hear

    def _start(self, name: str, attributes: Attributes) -> None:
        if name == "table:table":
            self._inside, self._row = attributes.get("table:name") == self._sheet, 0
        elif not self._inside:
            return
        elif name in CELLS:
            self._cell, self._text = attributes, ""
        elif name == "table:table-row":
            self._column, self._rows = 0, int(attributes.get("table:number-rows-repeated", 1))

    def _hear(self, content: str) -> None:
        if self._inside:
            self._text += content

    def _end(self, name: str) -> None:
        if name == "table:table":
            self._inside = False
        elif not self._inside:
            return
        elif name in CELLS:
            self._mark()
            self._column += int(self._cell.get("table:number-columns-repeated", 1))
        elif name == "table:table-row":
            self._row += self._rows

    def _mark(self) -> None:
        cell, place = self._cell, (self._row, self._column)
        rows, columns = (int(cell.get(f"table:number-{side}-spanned", 1)) for side in ("rows", "columns"))
        if rows > 1 or columns > 1:
            self.marks.append(Mark("merged", place, last=(place[0] + rows - 1, place[1] + columns - 1)))
        kind = cell.get("office:value-type")
        if kind is None and "table:formula" in cell and not self._text:
            self.marks.append(Mark("uncomputed", place))
        elif cell.get("calcext:value-type") == "error":
            self.marks.append(Mark("error", place))
        elif kind == "float" and self._shows_zeros():
            self.marks.append(Mark("shown", place, self._text, self._last()))

    def _shows_zeros(self) -> bool:
        """Return whether the text is the number with leading zeros."""
        return LEADING.fullmatch(self._text) is not None and float(self._text) == float(self._cell["office:value"])

    def _last(self) -> Place:
        """Return the last cell of a repetition."""
        columns = int(self._cell.get("table:number-columns-repeated", 1))
        return self._row + self._rows - 1, self._column + columns - 1
