"""Errors of delimited files."""

from pathlib import Path

from sfumato.errors import DataError
from sfumato.localization.messages import Message


def empty(name: str) -> DataError:
    """Return the error for an empty file."""
    return DataError("empty.empty", name=name)


def ragged(line: int | str | None = None, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a row with a different number of fields; line and column if they are known."""
    return _placed(DataError("ragged"), line, name, column)


def title_line(name: str, header: int | None = None) -> DataError:
    """Return the error for a file with titles above its header, and the line of the header if it is known."""
    do = Message("error.part.delete_title")
    if header:
        do = Message("sentences", parts=(Message("hint.column_names_in_line", line=header), do))
    return DataError("title", hint=do, name=name)


def open_quote(line: int | str, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a quote that is not closed, or closed before the field ends."""
    return _placed(DataError("quotes"), line, name, column)


def mixed_line_ends(name: str, line: int, end: str, first: str) -> DataError:
    """Return the error for mixed line endings, which readers interpret differently."""
    return DataError("line-ends", line=line, name=name, end=end, first=first)


def _placed(error: DataError, line: int | str | None, name: str, column: int | None) -> DataError:
    """Return an error with what is known of its position."""
    if column and line:
        return error.at(name, int(line), column)
    if line and name:
        return error.with_text(Message("located.line_of_file", message=error.message, line=line, name=name))
    if line:
        return error.with_text(Message("located.line", message=error.message, line=line))
    return error.with_text(Message("located.file", message=error.message, name=name)) if name else error


def damaged(path: Path) -> DataError:
    """Return the error for a file that is damaged or of another format."""
    return DataError("unreadable.unreadable", name=path.name)


def wrong_encoding(encoding: str, likely: str = "cp1252 (Windows, Western Europe)") -> DataError:
    """Return the error for a text that is not in the given encoding, with a likely one."""
    return DataError("encoding.wrong_encoding", name=encoding.upper(), likely=likely)
