"""Errors of delimited files."""

from pathlib import Path

from sfumato.errors import DataError


def empty(name: str) -> DataError:
    """Return the error for an empty file."""
    return DataError(f"the file {name} is empty.", "It needs a header and rows.", "empty")


def ragged(line: int | str | None = None, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a row with a different number of fields; line and column if they are known."""
    what = "a row has too many or too few fields"
    return DataError(
        f"{place_in(name, line, column)}{what}." if column and line else f"{what}{_where(line, name)}.",
        "Mend the file, or give its separator and quote.",
        "ragged",
    )


def title_line(name: str, header: int | None = None) -> DataError:
    """Return the error for a file with titles above its header, and the line of the header if it is known."""
    do = "Delete everything above the line with the column names, and try again."
    return DataError(
        f"line 1 of {name} looks like a title: it fills fewer fields than the lines below it.",
        f"The column names seem to be in line {header}. {do}" if header else do,
        "title",
    )


def open_quote(line: int | str, name: str = "", column: int | None = None) -> DataError:
    """Return the error for a quote that is not closed, or closed before the field ends."""
    what = "a quote is not closed"
    what = f"{place_in(name, line, column)}{what}." if column else f"{what}{_where(line, name)}."
    return DataError(what, "Mend the file, or give its quote.", "quotes")


def mixed_line_ends(name: str, line: int, end: str, first: str) -> DataError:
    """Return the error for mixed line endings, which readers interpret differently."""
    return DataError(
        f"line {line} of {name} ends with {end}, the lines before it with {first}.",
        "Save the file with one kind of line ending, and put line breaks within values in quotes.",
        "line-ends",
    )


def place_in(name: str, line: int | str, column: int) -> str:
    """Return a position in a file, as the beginning of a message.

    >>> place_in("a.csv", 3, 7)
    'a.csv, line 3, column 7: '
    """
    return f"{name}, line {line}, column {column}: "


def _where(line: int | str | None, name: str) -> str:
    return (f" in line {line}" if line else "") + (f" of {name}" if name else "")


def damaged(path: Path) -> DataError:
    """Return the error for a file that is damaged or of another format."""
    return DataError(
        f"the file {path.name} cannot be read: it is damaged, or of another format.",
        "Mend the file, or say what it is: data.format.",
        "unreadable",
    )


def wrong_encoding(encoding: str, likely: str = "cp1252 (Windows, Western Europe)") -> DataError:
    """Return the error for a text that is not in the given encoding, with a likely one."""
    do = (
        f"Save it as UTF-8, or say which encoding it has: --encoding {likely}, "
        "or data.encoding in its plan, table.encoding in that of a table."
    )
    return DataError(f"the file is not {encoding.upper()}.", do, "encoding")
