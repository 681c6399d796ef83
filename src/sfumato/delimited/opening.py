"""Open text files: decompress, decode, and read the first record."""

import codecs
import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sfumato.delimited.dialect import encoding_of
from sfumato.delimited.errors import damaged, wrong_encoding
from sfumato.errors import DataError, EngineError
from sfumato.localization.messages import Message

# A field may be as long as a text; Python's own limit is 128 KiB.
csv.field_size_limit(1 << 30)
# Maximum number of bytes searched for a character that is not in the encoding of its file.
MOST_LOOKED_THROUGH = 1 << 26
PIECE = 1 << 16
# Maximum number of characters in the first lines of a file; lines with rows are far shorter.
MOST_CHARACTERS = 1 << 24
# Errors while a damaged file is decompressed.
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


def wide_encoding(path: Path) -> str | None:
    """Return the multi-byte encoding that the first bytes of a file show, or None.

    Without a byte order mark, half of the first bytes are 0, because the first character of a text with rows is Latin.
    """
    with (
        suppress(*DAMAGED, OSError, ValueError),
        gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream,
    ):
        first = stream.read(4)
        if first in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
            return "utf-32"
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        return {b"\1\0": "utf-16-le", b"\0\1": "utf-16-be"}.get(bytes(map(bool, first[:2])))
    return None


@contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """Open a text file for reading, decompressed if its name ends in .gz; a byte order mark is removed.

    Raises:
        PlanError: The encoding is invalid.
        DataError: The file does not exist, is damaged, or is not in that encoding.
        EngineError: The system refuses.
    """
    name = encoding_of(encoding)
    if "\0" in str(path):
        what = Message("error.part.cannot_read", name=repr(path.name))
        raise DataError("unreadable", message=what, hint=Message("hint.delimited_path_and_rights"))
    wide = wide_encoding(path) if name == "utf-8" else None
    if wide is not None:
        raise wrong_encoding(encoding, wide)
    unpacking = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with unpacking(path, "rt", encoding="utf-8-sig" if name == "utf-8" else encoding, newline="") as stream:
            yield stream
    except UnicodeError:
        error, position = wrong_encoding(encoding), _undecoded(path, encoding)
        raise error.at(path.name, *position) if position else error from None
    except DAMAGED:
        raise damaged(path) from None
    except OSError as refusal:
        kind = DataError if isinstance(refusal, FileNotFoundError) else EngineError
        raise kind("unreadable.file", name=path.name, problem=refusal.strerror) from None


def _undecoded(path: Path, encoding: str) -> tuple[int, int] | None:
    """Return line and column of the first character that is not in an encoding; None if it cannot be found."""
    content = bytearray()
    with (
        suppress(*DAMAGED),
        gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream,
    ):
        while len(content) < MOST_LOOKED_THROUGH and (piece := stream.read(PIECE)):
            content += piece
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, "replace")
        return before.count("\n") + 1, len(before) - before.rfind("\n")
    return None


def first_record(stream: IO[str], quote: str = '"') -> str:
    """Return the first record of an open file, including line breaks within quotes.

    Raises:
        DataError: It does not end; a small compressed file may be arbitrarily long.
    """
    lines = [stream.readline(MOST_CHARACTERS)]
    length, quotes = len(lines[0]), lines[0].count(quote)
    while quotes % 2 and length < MOST_CHARACTERS and (line := stream.readline(MOST_CHARACTERS)):
        lines.append(line)
        length, quotes = length + len(line), quotes + line.count(quote)
    if length >= MOST_CHARACTERS and not (quotes % 2 and len(lines) > 1):  # an open quote is reported as such
        raise DataError("endless-line", count=MOST_CHARACTERS)
    return "".join(lines)


def next_lines(stream: IO[str], most: int) -> list[str]:
    """Return the next lines of an open file, unless they are too long."""
    lines, room = list[str](), MOST_CHARACTERS
    while len(lines) < most and (line := stream.readline(room)):
        room -= len(line)
        if room <= 0:
            break
        lines.append(line)
    return lines
