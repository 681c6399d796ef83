"""Input files: paths and checksums; records counted independently of their readers, so that lost rows are detected."""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from sfumato.confinement import check_open
from sfumato.delimited.dialect import damaged, encoding_of, mixed_line_ends, open_quote
from sfumato.delimited.header import Head, read_head
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
from sfumato.engines.sql import check_names
from sfumato.errors import DataError, PlanError
from sfumato.formats import FORMATS, Format, format_named, is_packed
from sfumato.microdata.data_plan import DataPlan
from sfumato.values import Value, replace

PLANS = (".yaml", ".yml")
_LOOKED_AT_BYTES = 1 << 16


def format_of(path: Path, data: DataPlan) -> Format:
    """Return the format of a file: as in the plan, or by its extension."""
    if data.format is not None:
        return FORMATS[data.format]
    named, form = path, format_named(path)
    if form is None and (path.is_dir() or not path.exists()):
        named = files_of(path)[0]
        form = format_named(named)
    if named.suffix.lower() in PLANS:
        raise PlanError("format.plan_instead_of_rows", name=path.name)
    if form is None:
        raise PlanError("format.data_format_ending_belongs", suffix=path.suffix, names=", ".join(sorted(FORMATS)))
    return form


def files_of(path: Path) -> list[Path]:
    """Return the files of a path, which may be a file, a folder or a pattern with `*`, sorted by name.

    Raises:
        DataError: There is none.
    """
    places = [path] if path.exists() else _matching(path)
    files = {file for place in places for file in ([place] if place.is_file() else _files_within(place))}
    for file in files:
        check_open(file)
    if not files:
        raise DataError("no-file.not_there", name=path.name)
    return sorted(files)


def _matching(pattern: Path) -> list[Path]:
    from glob import glob

    return [Path(place) for place in glob(str(pattern), recursive=True)]  # noqa: PTH207


def _files_within(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]


def files_in(path: Path, form: Format) -> list[Path]:
    """Return the files of a format for a path; in a folder, those with its extensions, or all if there are none."""
    files = files_of(path)
    fitting = [file for file in files if format_named(file) is form] if path.is_dir() else []
    return fitting or files


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder or pattern, sorted by name."""
    import hashlib

    digest = hashlib.sha256()
    for file in files_of(path):
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()


def about_rows(path: Path) -> int | None:
    """Estimate the number of rows of delimited files by the length of their first lines; None if compressed."""
    files = files_of(path)
    if any(map(is_packed, files)):
        return None
    with files[0].open("rb") as stream:
        start = stream.read(_LOOKED_AT_BYTES)
    return sum(file.stat().st_size for file in files) * max(start.count(b"\n"), 1) // max(len(start), 1)


def head_of(files: Sequence[Path], data: DataPlan, names: Sequence[str]) -> Head:
    """Read the header that all files of a source share; `names` are the column names without a header.

    Fields are assigned to columns by position, so a file with another header would have values in the wrong columns.

    Raises:
        DataError: A file has another header.
    """
    head = read_head(files[0], data.dialect, names)
    check_names(head.columns)
    for file in files[1:]:
        if read_head(file, replace(data.dialect, separator=head.separator), names) != head:
            raise other_columns(file, files[0])
    return head


def other_columns(file: Path, first: Path) -> DataError:
    """Return the error for a file whose columns differ from those of the first one."""
    return DataError("different-columns", name=file.name, other=first.name)


# Encodings in which bytes of separators, quotes and line breaks are unambiguous, so that files are counted without
# decoding.
_BYTEWISE = ("utf-8", "iso8859-1")
_PIECE = 1 << 16
_ENDS = {LF: "LF", CR: "CR", CRLF: "CR LF"}


class Records(Value):
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
    files: Sequence[Path], separator: str, columns: int, quote: str = '"', encoding: str = "utf-8", header: int = 1
) -> Records:
    """Count the records of files that have the same columns.

    Args:
        header: The number of header lines of each file.

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
    unpacking: Any = gzip.open if is_packed(file) else open
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
