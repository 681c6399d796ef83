"""Text files opened: unpacked, in their encoding, and their first record."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sfumato.delimited.dialect import encoding_of
from sfumato.delimited.faults import damaged, wrong_encoding
from sfumato.errors import DataError, EngineError

# A field may be as long as a text is; Python's own limit is 128 KiB.
csv.field_size_limit(1 << 30)


@contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """A text file to be read, unpacked where its name ends in .gz; a mark at its start is taken off.

    Raises:
        PlanError: The encoding is none.
        DataError: The file is not there, is damaged or not in that encoding.
        EngineError: The system refuses.
    """
    name = encoding_of(encoding)
    unpacking = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with unpacking(path, "rt", encoding="utf-8-sig" if name == "utf-8" else encoding, newline="") as stream:
            yield stream
    except UnicodeError:
        raise wrong_encoding(encoding) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise damaged(path) from None
    except OSError as error:
        kind = DataError if isinstance(error, FileNotFoundError) else EngineError
        what = f"the file {path.name} cannot be read: {error.strerror}."
        raise kind(what, "Check the path and its rights.", "unreadable") from None


def first_record(stream: IO[str], quote: str = '"') -> str:
    """The first record of an open file, line breaks within quotes included."""
    lines = [stream.readline()]
    quotes = lines[0].count(quote)
    while quotes % 2 and (line := stream.readline()):
        lines.append(line)
        quotes += line.count(quote)
    return "".join(lines)
