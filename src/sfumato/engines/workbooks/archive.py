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
# How UTF-16 begins, with a mark or without.
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
Attributes = dict[str, str]
# What reading a damaged part ends with: of ZIP, of what is packed, of XML, of what it says of cells.
DAMAGE = (
    *(BadZipFile, NotImplementedError, RuntimeError, OSError),
    *(zlib.error, EOFError),
    *(expat.ExpatError, LookupError, ValueError),
)


class Listener(Protocol):
    """What is told of elements and texts in their order."""

    def listen(self, parser: expat.XMLParserType) -> None:
        """Say what of a part is to be told; that may change on the way, and what is not asked for costs nothing."""


@contextmanager
def opened(path: Path) -> Iterator["Archive | None"]:
    """The parts of a workbook; None of one that is no ZIP file.

    Raises:
        DataError: It is damaged, as whoever reads it finds out.
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
    """A workbook's parts by their names, whichever way slashes and letters are written."""

    def __init__(self, file: ZipFile) -> None:
        self._file = file
        self._names = {name.replace("\\", "/").lower(): name for name in file.namelist()}

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._names

    def named(self, folder: str) -> list[str]:
        """The parts whose names begin so, those of relations left out."""
        return [part for part in self._names if part.startswith(folder) and not part.endswith(".rels")]

    def lengths(self) -> list[tuple[int, int]]:
        """The length of each part, unpacked and packed."""
        return [(entry.file_size, entry.compress_size) for entry in self._file.infolist()]

    def chunks(self, part: str) -> Iterator[bytes]:
        """The bytes of a part.

        Raises:
            KeyError: There is no such part.
        """
        with self._file.open(self._names[part.lower()]) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    def holds(self, part: str, signs: Sequence[bytes]) -> bool:
        """Whether a part holds one of some signs; one that is not written in UTF-8 may."""
        before, overlap = b"", max(map(len, signs))
        for chunk in self.chunks(part):
            if chunk.startswith(OTHER_ENCODINGS) or any(sign in before + chunk for sign in signs):
                return True
            before = chunk[-overlap:]  # a sign may lie across two chunks
        return False

    def tell(self, part: str, listener: Listener) -> Iterator[None]:
        """Tell a listener of a part, piece by piece; what it has heard by then can be taken after each."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        listener.listen(parser)
        for chunk in self.chunks(part):
            parser.Parse(chunk)
            yield
        parser.Parse(b"", True)
        yield

    def elements(self, part: str) -> list[tuple[str, Attributes]]:
        """The elements of a short part in their order, without the prefixes of their names."""
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
    """A name without its prefix.

    >>> plain("x:row"), plain("row")
    ('row', 'row')
    """
    return name[name.find(":") + 1 :]
