"""Read the parts of a workbook (a ZIP file of XML) as streams."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile, is_zipfile

from sfumato.delimited.errors import damaged

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
