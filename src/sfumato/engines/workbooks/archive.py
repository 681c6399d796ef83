"""Read the parts of a workbook (a ZIP file of XML) as streams; references and marks of cells."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile, is_zipfile

from sfumato.delimited.dialect import damaged
from sfumato.errors import DataError
from sfumato.localization.messages import first_names

CHUNK_BYTES = 1 << 18
# The first bytes of UTF-16, with a byte order mark or without.
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
Attributes = dict[str, str]
# Errors for damaged parts: of the ZIP file, of compressed data, of XML, of cell contents.
DAMAGE = (
    *(BadZipFile, NotImplementedError, RuntimeError, OSError),
    *(zlib.error, EOFError),
    *(expat.ExpatError, LookupError, ValueError),
)


class Listener(Protocol):
    """A receiver of the elements and texts of a part."""

    def listen(self, parser: expat.XMLParserType) -> None:
        """Set the handlers of a parser; they may change later, and unhandled events cost nothing."""


@contextmanager
def opened(path: Path) -> Iterator["Archive | None"]:
    """Open the parts of a workbook; None if it is no ZIP file.

    Raises:
        DataError: It is damaged.
    """
    if not is_zipfile(path):
        yield None
        return
    try:
        with ZipFile(path) as file:
            yield Archive(file)
    except DAMAGE:
        raise damaged(path) from None


class Archive:
    """The parts of a workbook by name, regardless of case and of the kind of slashes."""

    def __init__(self, file: ZipFile) -> None:
        self._file = file
        self._names = {name.replace("\\", "/").lower(): name for name in file.namelist()}

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._names

    def named(self, folder: str) -> list[str]:
        """Return the parts whose names begin with a text, without relations."""
        return [part for part in self._names if part.startswith(folder) and not part.endswith(".rels")]

    def lengths(self) -> list[tuple[int, int]]:
        """Return the uncompressed and compressed length of each part."""
        return [(entry.file_size, entry.compress_size) for entry in self._file.infolist()]

    def chunks(self, part: str) -> Iterator[bytes]:
        """Yield the bytes of a part.

        Raises:
            KeyError: There is no such part.
        """
        with self._file.open(self._names[part.lower()]) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    def holds(self, part: str, signs: Sequence[bytes]) -> bool:
        """Return whether a part contains one of some byte sequences; assumed for parts in UTF-16."""
        before, overlap = b"", max(map(len, signs))
        for chunk in self.chunks(part):
            if chunk.startswith(OTHER_ENCODINGS) or any(sign in before + chunk for sign in signs):
                return True
            before = chunk[-overlap:]  # a sequence may span two chunks
        return False

    def tell(self, part: str, listener: Listener) -> Iterator[None]:
        """Parse a part chunk by chunk for a listener, whose results can be used after each chunk."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        listener.listen(parser)
        for chunk in self.chunks(part):
            parser.Parse(chunk)
            yield
        parser.Parse(b"", True)
        yield

    def elements(self, part: str) -> list[tuple[str, Attributes]]:
        """Return the elements of a short part in order, without namespace prefixes."""
        elements = _Elements()
        for _ in self.tell(part, elements):
            pass
        return elements.all


class _Elements:
    def __init__(self) -> None:
        self.all: list[tuple[str, Attributes]] = []

    def listen(self, parser: expat.XMLParserType) -> None:
        parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: Attributes) -> None:
        self.all.append((plain(name), {plain(key): value for key, value in attributes.items()}))


def plain(name: str) -> str:
    """Return a name without its prefix.

    >>> plain("x:row"), plain("row")
    ('row', 'row')
    """
    return name[name.find(":") + 1 :]


# Row and column, from 0.
Place = tuple[int, int]
SHOWN = 3
LETTERS = 26
_BEFORE_A = ord("A") - 1


def name_of(place: Place) -> str:
    """Return the reference of a cell.

    >>> name_of((0, 0)), name_of((8, 25)), name_of((9, 26)), name_of((0, 701)), name_of((0, 702))
    ('A1', 'Z9', 'AA10', 'ZZ1', 'AAA1')
    """
    return f"{_letters(place[1])}{place[0] + 1}"


def _letters(column: int) -> str:
    above, place = divmod(column, LETTERS)
    return (_letters(above - 1) if above else "") + chr(_BEFORE_A + 1 + place)


def place_of(name: str) -> Place:
    """Return the position of a cell by its reference.

    >>> [name_of(place_of(name)) for name in ("A1", "Z9", "AA10", "ZZ1", "AAA1")]
    ['A1', 'Z9', 'AA10', 'ZZ1', 'AAA1']

    Raises:
        ValueError: It is no name of a cell.
    """
    letters = name.rstrip("0123456789")
    column = 0
    for letter in letters.upper():
        column = column * LETTERS + ord(letter) - _BEFORE_A
    return int(name[len(letters) :]) - 1, column - 1


def listed(names: Sequence[str]) -> str:
    """Return the first of some references, and how many more there are.

    >>> print(listed(["A1", "B2"]), listed(["A1", "A2", "A3", "A4", "A5"]), sep="\\n")
    A1, B2
    A1, A2, A3 and 2 more
    """
    return first_names(names, SHOWN)


class Mark(NamedTuple):
    """A property of a cell.

    Attributes:
        kind: `uncomputed` for a formula without a stored value, `error` for an error instead of a value, `shown` for
            a format with leading zeros, `merged` for the first of merged cells.
        place: The position of the cell.
        text: The number as displayed.
        last: The last of merged cells, or of those in which a number is repeated.
    """

    kind: Literal["uncomputed", "error", "shown", "merged"]
    place: Place
    text: str = ""
    last: Place = (0, 0)


# The first and the last cell.
Merged = tuple[Place, Place]


def check_merged(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> None:
    """Refuse a sheet with non-empty merged cells in its rows.

    All rows but the first of such cells would lack a value that they have: a person, a household, or a sensitive value.
    Models would then not count it.

    Args:
        merged: The merged cells of the sheet.
        start: The position of the first non-empty cell.
        cells: The cells, from that one on.
        has_header: Whether the first row has the column names; cells merged within it are accepted.
    """
    places = [*_in_rows(merged, start, cells, has_header)]
    if not places:
        return
    raise DataError("merged-cells", places=listed(places))


def _in_rows(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> Iterator[str]:
    """Yield the references of non-empty merged cells within the rows."""
    for (top, left), (bottom, right) in sorted(merged):
        row, column = top - start[0], left - start[1]
        inside = 0 <= row < len(cells) and 0 <= column < len(cells[row])
        if inside and bottom - start[0] >= has_header and cells[row][column] != "":
            yield f"{name_of((top, left))}:{name_of((bottom, right))}"
