"""Records of delimited files, counted independently of their readers, so that lost rows are detected."""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import encoding_of
from sfumato.delimited.errors import damaged, mixed_line_ends, open_quote
from sfumato.delimited.opening import DAMAGED, open_text
from sfumato.engines.line_kernels import (
    BEGUN,
    CR,
    CRLF,
    END,
    LENGTH,
    LF,
    LINE,
    LONGEST,
    LONGEST_LINE,
    OTHER_END,
    OTHER_LINE,
    QUOTED,
    ROWS,
    count_records,
)
from sfumato.errors import DataError

# Encodings in which bytes of separators, quotes and line breaks are unambiguous, so that files are counted without
# decoding.
_BYTEWISE = ("utf-8", "iso8859-1")
_PIECE = 1 << 16
_ENDS = {LF: "LF", CR: "CR", CRLF: "CR LF"}


@dataclass(frozen=True, slots=True)
class Records:
    """The records of some files.

    Attributes:
        rows: The number of records, without headers.
        longest: The bytes of the longest record.
        line: The line in which it begins.
    """

    rows: int
    longest: int
    file: str
    line: int

    def check(self, read: int) -> None:
        """Refuse a different number of rows read.

        Raises:
            DataError: Rows were lost, or read twice.
        """
        if read != self.rows:
            raise DataError("lost-rows", count=self.rows, read=read, line=self.line, name=self.file)


def records_in(
    files: Sequence[Path], separator: str, columns: int, quote: str = '"', encoding: str = "utf-8", header: bool = True
) -> Records:
    """Count the records of files that have the same columns.

    Raises:
        DataError: A file is damaged, not in its encoding, has an unclosed quote, or mixes line endings.
    """
    found = [(file, _state_of(file, separator, columns, quote, encoding)) for file in files]
    file, longest = max(found, key=lambda entry: entry[1][LONGEST])
    rows = sum(int(state[ROWS]) - header for _, state in found)
    return Records(rows, int(longest[LONGEST]), file.name, int(longest[LONGEST_LINE]))


def _state_of(file: Path, separator: str, columns: int, quote: str, encoding: str) -> Any:
    """Return the state of the loop at the end of a file."""
    name = encoding_of(encoding)
    bytewise = name if name in _BYTEWISE else "utf-8"
    mark = np.frombuffer(separator.encode(bytewise), np.uint8)
    state = np.zeros(OTHER_LINE + 1, np.int64)
    state[[LINE, BEGUN]] = 1
    with _opened(file, encoding, name in _BYTEWISE) as stream:
        for piece in _pieces(stream):
            count_records(np.frombuffer(piece, np.uint8), mark, ord(quote), columns == 1, state)
    if state[QUOTED]:
        raise open_quote(int(state[BEGUN]), file.name)
    if state[OTHER_END]:
        raise mixed_line_ends(file.name, int(state[OTHER_LINE]), _ENDS[state[OTHER_END]], _ENDS[state[END]])
    if state[LENGTH]:  # the last record without a line break
        state[ROWS] += 1
        if state[LENGTH] > state[LONGEST]:
            state[[LONGEST, LONGEST_LINE]] = state[[LENGTH, BEGUN]]
    return state


@contextmanager
def _opened(file: Path, encoding: str, bytewise: bool) -> Iterator[IO[Any]]:
    """Open a file for reading bytes, uncompressed; as text if its encoding has other bytes for line breaks."""
    if not bytewise:
        with open_text(file, encoding) as texts:
            yield texts
        return
    unpacking: Any = gzip.open if file.suffix.lower() == ".gz" else open
    try:
        with unpacking(file, "rb") as stream:
            yield stream
    except DAMAGED:
        raise damaged(file) from None


def _pieces(stream: IO[Any]) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end with a line break, except for the last one."""
    rest, size = b"", _PIECE
    while read := stream.read(size):
        piece = rest + (read if isinstance(read, bytes) else read.encode())
        # A line break of two bytes is not split, because the byte after a carriage return is included.
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
        rest, size = piece[end:], _PIECE if end else max(2 * len(piece), _PIECE)
        if end:
            yield piece[:end]
    yield rest
