"""Check how far the filled cells of a sheet extend, because readers allocate memory for all cells between them.

A stray cell in the last row and column of a sheet would take 17 billion cells. So the sheet is scanned before it is
read, and cells that are too far away are named. Parts of the archive that are larger than any table are not
decompressed.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from xml.parsers.expat import XMLParserType

import numpy as np
import numpy.typing as npt

from sfumato.engines.workbooks.archive import Archive, Attributes, Place, name_of, opened, place_of, plain
from sfumato.engines.workbooks.cell_properties import BOOK, CELLS, CONTENT, part_of
from sfumato.errors import DataError
from sfumato.values import State

# This many positions are always accepted; above, at least one in SPARSE positions must be filled.
ROOM, SPARSE = 1 << 24, 20
# This many bytes are always accepted for a part; above, its compression ratio is limited.
LENGTH, PACKED = 1 << 30, 200
# The parts of an .xlsb file with cells, and the types of records for rows and for non-blank cells.
BINARY_SHEETS, ROW = "xl/worksheets/", 0
NUMBERED = frozenset((ROW, *range(2, 12)))
# A byte of a record type or length from this value on is followed by another one.
LONG = 0x80
# Maximum number of column letters and of row digits in a cell reference.
LETTERS, DIGITS = 3, 7
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


def _values(first: str, count: int, least: int) -> Ints:
    """Return the numeric value of each byte; -1 for others."""
    values = np.full(256, -1, np.int64)
    values[ord(first) : ord(first) + count] = np.arange(least, least + count)
    return values


def _among(signs: bytes) -> npt.NDArray[np.bool_]:
    """Return for each byte whether it is one of some characters."""
    among = np.zeros(256, bool)
    among[list(signs)] = True
    return among


VALUE_OF_LETTER, VALUE_OF_DIGIT = _values("A", 26, 1), _values("0", 10, 0)
SPACES, QUOTES, ENDS = _among(b" \t\r\n"), _among(b"\"'"), _among(b" \t\r\n/>")


class _Extent(State):
    """The filled cells of a sheet so far: their number, and the extreme rows and columns."""

    cells: int = 0
    top: int = 1 << 60
    left: int = 1 << 60
    lowest: Place = (-1, -1)
    rightmost: Place = (-1, -1)

    def add(self, first: Place, last: Place, cells: int = 1) -> None:
        self.cells += cells
        self.top, self.left = min(self.top, first[0]), min(self.left, first[1])
        self.lowest = max(self.lowest, last)
        self.rightmost = last if last[1] > self.rightmost[1] else self.rightmost

    @property
    def room(self) -> int:
        """The number of positions in the bounding rectangle of the filled cells."""
        return (self.lowest[0] - self.top + 1) * (self.rightmost[1] - self.left + 1) if self.cells else 0

    def check(self) -> None:
        if self.room <= max(ROOM, SPARSE * self.cells):
            return
        raise DataError(
            "far-cells",
            last=name_of(self.lowest),
            rightmost=name_of(self.rightmost),
            places=self.room,
            count=self.cells,
        )


def check_packing(path: Path) -> None:
    """Refuse a workbook with a part that is too long for its compressed size."""
    with opened(path) as archive:
        lengths = [] if archive is None else archive.lengths()
    for length, packed in lengths:
        if length > max(LENGTH, PACKED * packed):
            raise DataError("overpacked", name=path.name, count=length, times=length // max(packed, 1))


def check_extent(path: Path, sheet: str | None = None) -> None:
    """Refuse a sheet whose filled cells are so far apart that the cells between them would exhaust the memory.

    Args:
        path: The workbook; formats from before 2007 cannot have too many cells.
        sheet: The sheet of an .xlsx file; in other formats all sheets are checked at once.

    Raises:
        DataError: The cells are too far apart, or the file cannot be read.
    """
    with opened(path) as archive:
        if archive is None:
            return
        if sheet is None and BOOK not in archive:
            for part in archive.named(BINARY_SHEETS):
                _check_binary(archive, part)
            if CONTENT in archive:
                _check(archive, CONTENT, _OdsCells())
        elif sheet is not None and BOOK in archive:
            part = part_of(archive, sheet)
            if not _is_near(archive.chunks(part)):
                _check(archive, part, _XlsxCells())


def _check(archive: Archive, part: str, cells: "_XlsxCells | _OdsCells") -> None:
    for _ in archive.tell(part, cells):
        pass
    cells.extent.check()


def _check_binary(archive: Archive, part: str) -> None:
    """Check a sheet of an .xlsb file; the cells of a row are added at once, because there may be millions."""
    extent, row, columns = _Extent(), -1, list[int]()
    for kind, number in _numbers_in(b"".join(archive.chunks(part))):
        if kind != ROW:
            columns.append(number)
            continue
        if columns:
            extent.add((row, min(columns)), (row, max(columns)), len(columns))
            columns = []
        row = number
    if columns:
        extent.add((row, min(columns)), (row, max(columns)), len(columns))
    extent.check()


def _numbers_in(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the type of each record of a row or filled cell, and its row or column number, which starts its content.

    Records consist of a type, a length and a content.
    """
    place, end = 0, len(content)
    while place < end:
        kind, length, place = content[place], content[place + 1], place + 2
        if kind >= LONG or length >= LONG:  # fewer than one in a thousand
            kind, place = _varying(content, place - 2)
            length, place = _varying(content, place)
        if kind in NUMBERED:
            yield kind, int.from_bytes(content[place : place + 4], "little")
        place += length


def _varying(content: bytes, place: int) -> tuple[int, int]:
    """Return a variable-length number of up to four bytes, and the position after it.

    The first bit of each byte is set if another byte follows.
    """
    number = 0
    for count, byte in enumerate(content[place : place + 4], 1):
        number |= (byte & 0x7F) << 7 * (count - 1)
        if byte < LONG:
            return number, place + count
    return number, place + 4


class _XlsxCells:
    """Collects the filled cells of an .xlsx sheet."""

    def __init__(self) -> None:
        self.extent = _Extent()
        self._place = (-1, -1)

    def listen(self, parser: XMLParserType) -> None:
        parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: Attributes) -> None:
        kind, (row, column) = plain(name), self._place
        if kind == "row":
            self._place = int(attributes["r"]) - 1 if "r" in attributes else row + 1, -1
        elif kind == "c":
            self._place = place_of(attributes["r"]) if "r" in attributes else (row, column + 1)
        elif kind in ("v", "is"):
            self.extent.add(self._place, self._place)


class _OdsCells:
    """Collects the filled cells of all sheets of an .ods file, including their repetitions."""

    def __init__(self) -> None:
        self.extent = _Extent()
        self._row = self._column = 0
        self._rows = self._columns = 1
        self._filled = False

    def listen(self, parser: XMLParserType) -> None:
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end

    def _start(self, name: str, attributes: Attributes) -> None:
        if name == "table:table":
            self.extent.check()
            self.extent, self._row = _Extent(), 0
        elif name == "table:table-row":
            self._column, self._rows = 0, int(attributes.get("table:number-rows-repeated", 1))
        elif name in CELLS:
            self._columns = int(attributes.get("table:number-columns-repeated", 1))
            self._filled = "office:value-type" in attributes
        elif name == "text:p":
            self._filled = True

    def _end(self, name: str) -> None:
        if name == "table:table-row":
            self._row += self._rows
        elif name in CELLS:
            if self._filled:
                last = self._row + self._rows - 1, self._column + self._columns - 1
                self.extent.add((self._row, self._column), last)
            self._column += self._columns
            self._filled = False


def _is_near(chunks: Iterator[bytes]) -> bool:
    """Return whether all cells of an .xlsx sheet have a cell reference, and none is far from the others.

    This accepts most sheets in a tenth of the time that parsing them takes.
    """
    cells = named = rows = columns = 0
    for piece in _pieces(chunks):
        content = np.frombuffer(piece + b"\0" * (4 + LETTERS + DIGITS), np.uint8)
        begins = np.flatnonzero((content[:-2] == ord("<")) & (content[1:-1] == ord("c")))
        cells += int(ENDS[content[begins + 2]].sum())
        letters, numbers = _named_places(content)
        named += int((letters > 0).sum())
        rows, columns = max(rows, int(numbers.max(initial=0))), max(columns, int(letters.max(initial=0)))
    return cells == named and rows * columns <= max(ROOM, SPARSE * cells)


def _named_places(content: Bytes) -> tuple[Ints, Ints]:
    """Return the column and row of each reference, from 1: r="B7", or r="7" for a row."""
    ends = 4 + LETTERS + DIGITS
    starts = np.flatnonzero((content[1 : -ends + 1] == ord("r")) & (content[2 : -ends + 2] == ord("=")))
    place = starts[SPACES[content[starts]] & QUOTES[content[starts + 3]]] + 4
    columns, place = _read_number(content, place, VALUE_OF_LETTER, 26, LETTERS)
    rows, place = _read_number(content, place, VALUE_OF_DIGIT, 10, DIGITS)
    # Other notations are examined by the parser.
    odd = ~QUOTES[content[place]]
    columns[odd] = rows[odd] = 1 << 30
    return columns, rows


def _read_number(content: Bytes, place: Ints, values: Ints, base: int, most: int) -> tuple[Ints, Ints]:
    """Return the number at each position, with a maximum number of characters, and the position after it."""
    numbers, reading = np.zeros(len(place), np.int64), np.ones(len(place), bool)
    for _ in range(most):
        value = values[content[place]]
        reading &= value >= 0
        if not reading.any():
            break
        numbers, place = np.where(reading, numbers * base + value, numbers), place + reading
    return numbers, place


def _pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes in pieces that end before an element."""
    before = b""
    for chunk in chain(chunks, (b"<",)):
        both = before + chunk
        cut = max(both.rfind(b"<"), 0)
        if cut:
            yield both[:cut]
        before = both[cut:]
