"""Properties of cells in .xlsx and .ods files other than their values: formula, type, number format, shown text."""

from collections.abc import Callable, Iterator
from xml.parsers.expat import XMLParserType

from sfumato.engines.workbooks.archive import Archive, Attributes, Mark, Place, place_of, plain
from sfumato.patterns import regex

# A language, zeros with separators, and formats of negative numbers.
ZEROS_FORMAT = regex(r'(?:\[\$-[0-9A-Fa-f]+\])?((?:0|\\.|"[^"]*"|[- ])*)(?:;.*)?')
PIECES = regex(r'0|\\.|"[^"]*"|[- ]')
BOOK, RELATIONS, XLSX_STYLES = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml"
# A formula, or another element that begins so; an error.
XLSX_SIGNS = (b"<f", b":f", b't="e"', b"t='e'")
Show = Callable[[str], str | None]
Formats = dict[str, Show]


def marks_in_xlsx(archive: Archive, sheet: str) -> Iterator[Mark]:
    """Yield the marks of a sheet's cells.

    Raises:
        KeyError: A part is missing.
        ValueError: A part is no XML, or a cell reference is invalid.
    """
    part, formats = part_of(archive, sheet), _formats(archive)
    if not formats and not archive.holds(part, XLSX_SIGNS):
        return
    settings = [about for kind, about in archive.elements(BOOK) if kind == "calcPr"]
    waits = any(about.get("fullCalcOnLoad") in ("1", "true") for about in settings)
    cells = _XlsxCells(formats, waits)
    for _ in archive.tell(part, cells):
        yield from cells.marks
        cells.marks.clear()


def part_of(archive: Archive, sheet: str) -> str:
    """Return the name of the part with the cells of a sheet.

    Raises:
        KeyError: There is none.
    """
    relation = {about["name"]: about["id"] for kind, about in archive.elements(BOOK) if kind == "sheet"}[sheet]
    targets = {about["Id"]: about["Target"] for kind, about in archive.elements(RELATIONS) if kind == "Relationship"}
    target = targets[relation].replace("\\", "/").removeprefix("/")
    return target if target.lower().startswith("xl/") else f"xl/{target}"


def _formats(archive: Archive) -> Formats:
    """Return the formats of styles with leading zeros, by style number."""
    if XLSX_STYLES not in archive:
        return {}
    forms: Formats = {}
    numbers: list[str] = []
    of_cells = False
    for kind, about in archive.elements(XLSX_STYLES):
        if kind == "numFmt" and (show := shown_by(about["formatCode"])):
            forms[about["numFmtId"]] = show
        if kind in ("cellXfs", "cellStyleXfs", "cellStyles", "dxfs"):
            of_cells = kind == "cellXfs"
        elif kind == "xf" and of_cells:
            numbers.append(about.get("numFmtId", "0"))
    return {str(place): forms[number] for place, number in enumerate(numbers) if number in forms}


class _XlsxCells:
    """Parses a sheet and marks its cells.

    Args:
        formats: How styles display numbers.
        waits: Whether the workbook is to be computed when it is opened. Programs that compute nothing set this and
            write 0 for each value.
    """

    def __init__(self, formats: Formats, waits: bool) -> None:
        self.marks: list[Mark] = []
        self._formats = formats
        self._empty = ("", "0") if waits else ("",)
        # A cell usually has its reference; one without it follows the previous cell.
        self._named: str | None = None
        self._row, self._column = -1, -1
        self._cell: Attributes = {}
        self._has_formula = self._in_value = False
        self._value = ""

    def listen(self, parser: XMLParserType) -> None:
        self._parser = parser
        parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: Attributes) -> None:
        kind = name if ":" not in name else plain(name)
        if kind == "v":
            self._in_value = True
        elif kind == "c":
            self._begin(attributes)
        elif kind == "f":
            self._has_formula = True
            self._look_closer(True)
        elif kind == "row":
            self._row = int(attributes["r"]) - 1 if "r" in attributes else self._place()[0] + 1
            self._column, self._named = -1, None

    def _begin(self, attributes: Attributes) -> None:
        """Begin a cell; only its style, type and formula decide whether its value is needed."""
        named = attributes.get("r")
        if named is None:
            row, column = self._place()
            self._row, self._column = row, column + 1
        self._named, self._cell, self._value = named, attributes, ""
        self._has_formula = self._in_value = False
        if attributes.get("s", "0") in self._formats or attributes.get("t") == "e":
            self._look_closer(True)

    def _look_closer(self, on: bool) -> None:
        self._parser.CharacterDataHandler = self._hear if on else None
        self._parser.EndElementHandler = self._end if on else None

    def _hear(self, content: str) -> None:
        if self._in_value:
            self._value += content

    def _end(self, name: str) -> None:
        kind = plain(name)
        if kind == "v":
            self._in_value = False
        elif kind == "c":
            self._mark(self._cell.get("t", "n"), self._formats.get(self._cell.get("s", "0")))
            self._look_closer(False)

    def _place(self) -> Place:
        """Return the position of the last cell."""
        return place_of(self._named) if self._named else (self._row, self._column)

    def _mark(self, type_of_value: str, show: Show | None) -> None:
        if self._has_formula and type_of_value == "n" and self._value in self._empty:
            self.marks.append(Mark("uncomputed", self._place()))
        elif type_of_value == "e":
            self.marks.append(Mark("error", self._place()))
        elif show and type_of_value == "n" and (text := show(self._value)) is not None:
            self.marks.append(Mark("shown", self._place(), text))


def shown_by(form: str) -> Callable[[str], str | None] | None:
    """Return a function that formats numbers with leading zeros; None for a format without leading zeros.

    >>> show = shown_by('"D-"00000')
    >>> show("1067"), show("1234567"), show("10.5"), show("-3")
    ('D-01067', 'D-1234567', None, None)
    >>> shown_by("000\\\\-00")("7"), shown_by("0.00"), shown_by("0")
    ('000-07', None, None)
    """
    found = ZEROS_FORMAT.fullmatch(form)
    pieces = PIECES.findall(found[1]) if found else []
    zeros = pieces.count("0")
    return (lambda value: _shown(value, pieces, zeros)) if zeros > 1 else None


def _shown(value: str, pieces: list[str], zeros: int) -> str | None:
    """Return a number in its format; surplus digits are placed before the first zero."""
    whole = _whole(value)
    if whole is None:
        return None
    digits = whole.zfill(zeros)
    more = len(digits) - zeros
    texts, place = [], 0
    for piece in pieces:
        end = place + (piece == "0") * (1 + (more if place == 0 else 0))
        texts.append(digits[place:end] if piece == "0" else piece[1:].rstrip('"') if piece[0] in '\\"' else piece)
        place = end
    return "".join(texts)


def _whole(value: str) -> str | None:
    """Return the digits of a non-negative integer, else None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return str(int(number)) if number >= 0 and number.is_integer() else None


CONTENT, ODS_STYLES = "content.xml", "styles.xml"
CELLS = ("table:table-cell", "table:covered-table-cell")
ODS_ZEROS = tuple(f'min-integer-digits="{digits}"'.encode() for digits in range(2, 31))
ODS_SIGNS = (b"table:formula", b"-spanned", b'"error"')
LEADING = regex(r"0[0-9]+")


def marks_in_ods(archive: Archive, sheet: str) -> Iterator[Mark]:
    """Yield the marks of a sheet's cells.

    Raises:
        ValueError: The file is no XML, or an attribute is not a number.
    """
    if not archive.holds(CONTENT, (*ODS_SIGNS, *ODS_ZEROS)) and not (
        ODS_STYLES in archive and archive.holds(ODS_STYLES, ODS_ZEROS)
    ):
        return
    cells = _OdsCells(sheet)
    for _ in archive.tell(CONTENT, cells):
        yield from cells.marks
        cells.marks.clear()


class _OdsCells:
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
