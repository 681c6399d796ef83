"""Translate DuckDB's errors to messages without data values."""

import re
from pathlib import Path

from sfumato.delimited.errors import damaged, open_quote, ragged, wrong_encoding
from sfumato.engines.duckdb.fast_import import compiled
from sfumato.errors import DataError, EngineError, SfumatoError

# Words in errors of the machine, which can also occur while only the source is read.
DISK = ("No space left", "Permission denied", "quota", "write", "temp_directory")


def _faults_of_data() -> tuple[type[Exception], ...]:
    """Return the exceptions that DuckDB raises for invalid files."""
    duckdb = compiled()
    known = (duckdb.InvalidInputException, duckdb.IOException, duckdb.ConversionException, duckdb.CatalogException)
    return (*known, duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException)


def explained(error: Exception, encoding: str, source: Path | None = None) -> SfumatoError:
    """Return Sfumato's error for one of DuckDB's, without its text except for the line number.

    Args:
        source: The file that was read, if nothing else was done.
    """
    text = str(error).replace(str(source), "")
    line = re.search(r"[Ll]ine: ?(\d+)", text)
    if "unicode" in text.lower() or "utf-8" in text.lower() or "encod" in text.lower():
        return wrong_encoding(encoding)
    if "Expected Number of Columns" in text:
        return ragged(line and line[1])
    if "quote" in text.lower() and line:
        return open_quote(line[1])
    if line:
        return DataError("unreadable.unreadable_line", number=line[1])
    if source is not None and isinstance(error, _faults_of_data()) and not any(word in text for word in DISK):
        return damaged(source)
    if "No space left" in text:
        return EngineError("disk.the_disk_is_full")
    if "Cannot open file" in text or type(error).__name__ == "IOException":
        return EngineError("disk.a_file_cannot_be")
    if type(error).__name__ == "OutOfMemoryException":
        return EngineError("memory_2")
    return EngineError("duckdb", name=type(error).__name__)


def changed() -> EngineError:
    """Return the error for rows that changed between two reads."""
    return EngineError("changed")
