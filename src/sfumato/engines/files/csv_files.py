"""CSV files: their heads, their encodings, and the table expression with which DuckDB reads them."""

import codecs
import csv
import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import IO, Any

from sfumato.engines import sql
from sfumato.engines.names import check_names
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.microdata.data_plan import DataPlan

SEPARATORS = ",;\t|"
# Encodings that DuckDB reads by itself; files in others are rewritten as UTF-8 first.
NATIVE_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16"}


@dataclass(frozen=True, slots=True)
class Head:
    """What the first record of a CSV file tells: its columns' names and their separator."""

    columns: tuple[str, ...]
    separator: str


def check_separator(separator: str | None) -> None:
    """Refuse what cannot stand between the fields of a CSV file; None is found out from the header.

    Raises:
        PlanError: It is not one character, or one that has another meaning.
    """
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise PlanError(
            "the separator must be one character, neither a quote nor a line break.",
            "For example ; or , or a tab.",
            "separator",
        )


def head_of(files: Sequence[Path], data: DataPlan, names: Sequence[str]) -> Head:
    """The head that all files of a source share; `names` are the columns' names when they have no header.

    Fields go to columns by their place, so a file with another header would lend its values to the wrong columns.

    Raises:
        DataError: A file has another head.
    """
    head = _head(files[0], data, names, data.separator)
    for file in files[1:]:
        if _head(file, data, names, head.separator) != head:
            raise other_columns(file, files[0])
    return head


def other_columns(file: Path, first: Path) -> DataError:
    """The error for one of several files that has other columns than the first one."""
    return DataError(
        f"the file {file.name} has not the columns of {first.name}: names, order and types must be the same.",
        "Give all files the same columns, or release them one by one.",
        "different-columns",
    )


def _head(path: Path, data: DataPlan, names: Sequence[str], separator: str | None) -> Head:
    first = _first_record_of(path, data)
    separator = separator or likely_separator(first)
    fields = next(csv.reader([first], delimiter=separator, quotechar=data.quote))
    columns = tuple(name.strip() if data.strip else name for name in fields) if data.header else tuple(names)
    if len(columns) != len(fields):
        raise DataError(
            f"the file has {len(fields)} columns and no header, the plan names {len(columns)}.",
            "Name them all, in order.",
            "columns",
        )
    check_names(columns)
    return Head(columns, separator)


def csv_table(
    files: Sequence[Path],
    columns: Sequence[str],
    separator: str,
    quote: str = '"',
    encoding: str = "utf-8",
    header: bool = True,
    published: bool = False,
) -> str:
    """The table expression for CSV files, every value a text.

    Args:
        published: Whether Sfumato wrote the file, so that an empty field in quotes is an empty text, not missing.
    """
    kinds = sql.listed(f"{sql.text(column)}: 'VARCHAR'" for column in columns)
    return (
        f"read_csv({file_list(files)}, auto_detect=false, header={str(header).lower()}, "
        f"delim={sql.text(separator)}, quote={sql.text(quote)}, escape={sql.text(quote)}, nullstr='', "
        f"encoding={sql.text(encoding)}, "
        f"allow_quoted_nulls={str(not published).lower()}, strict_mode=true, null_padding=false, columns={{{kinds}}})"
    )


def file_list(files: Sequence[Path]) -> str:
    """Files for DuckDB, which would take `*`, `?` and `[` in their names for patterns."""
    return f"[{sql.listed(sql.text(escape(str(file))) for file in files)}]"


def native(files: Sequence[Path], data: DataPlan, scratch: Path) -> tuple[Sequence[Path], str]:
    """The files, and the name of their encoding, in an encoding that DuckDB reads."""
    encoding = encoding_of(data.encoding)
    if encoding in NATIVE_ENCODINGS:
        return files, NATIVE_ENCODINGS[encoding]
    copies = [scratch / f"source{place}.csv" for place in range(len(files))]
    for file, copy in zip(files, copies, strict=True):
        _rewrite(file, copy, data.encoding)
    return copies, "utf-8"


def _rewrite(path: Path, target: Path, encoding: str) -> None:
    try:
        with _opened(path, encoding) as stream, target.open("w", encoding="utf-8", newline="") as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
    except UnicodeError:
        raise wrong_encoding(encoding) from None


def encoding_of(name: str) -> str:
    """The encoding of a name.

    Raises:
        PlanError: It is none for texts.
    """
    try:
        found = codecs.lookup(name)
        "".encode(name)  # base64 and the like are codecs, but of bytes
    except (LookupError, ValueError):
        raise PlanError(
            f'data.encoding: "{name}" is no encoding.', "For example utf-8, latin-1, cp1252.", "encoding"
        ) from None
    return found.name


def _first_record_of(path: Path, data: DataPlan) -> str:
    encoding = "utf-8-sig" if encoding_of(data.encoding) == "utf-8" else data.encoding
    try:
        with _opened(path, encoding) as stream:
            record = first_record(stream, data.quote)
    except UnicodeError:
        raise wrong_encoding(data.encoding) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise damaged(path) from None
    except OSError as error:
        raise EngineError(
            f"the file {path.name} cannot be read: {error.strerror}.", "Check its rights.", "unreadable"
        ) from None
    if not record.strip():
        raise DataError(f"the file {path.name} is empty.", "It needs a header and rows.", "empty")
    return record.rstrip("\r\n")


def first_record(stream: IO[str], quote: str = '"') -> str:
    """The first record of an open CSV file, line breaks within quotes included."""
    record = stream.readline()
    while record.count(quote) % 2 and (line := stream.readline()):
        record += line
    return record


def _opened(path: Path, encoding: str) -> Any:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rt", encoding=encoding, newline="")


def damaged(path: Path) -> DataError:
    """The error for a file that is broken, or of another format."""
    return DataError(
        f"the file {path.name} cannot be read: it is damaged, or of another format.",
        "Mend the file, or say what it is: data.format.",
        "unreadable",
    )


def wrong_encoding(encoding: str) -> DataError:
    """The error for text that is not in the encoding it should be in."""
    return DataError(
        f"the file is not {encoding}.", "Say which encoding it has: data.encoding, for example latin-1.", "encoding"
    )


def likely_separator(record: str) -> str:
    """The separator that occurs most often in the first record of a CSV file."""
    return max(SEPARATORS, key=record.count)
