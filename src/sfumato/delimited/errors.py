"""Errors of delimited files."""

from pathlib import Path

from sfumato.errors import DataError


def empty(name: str) -> DataError:
    """The error for a file with nothing in it."""
    return DataError(f"the file {name} is empty.", "It needs a header and rows.", "empty")


def ragged(line: int | str | None = None, name: str = "", column: int | None = None) -> DataError:
    """The error for a row that has not as many fields as the first one; line and column where they are known."""
    what = "a row has too many or too few fields"
    return DataError(
        f"{place_in(name, line, column)}{what}." if column and line else f"{what}{_where(line, name)}.",
        "Mend the file, or give its separator and quote.",
        "ragged",
    )


def title_line(name: str, header: int | None = None) -> DataError:
    """The error for a file with titles above its header, and the line of this where it is known."""
    do = "Delete what stands above the line with the columns' names, and try again."
    return DataError(
        f"line 1 of {name} looks like a title: it fills fewer fields than the lines below it.",
        f"The columns' names seem to stand in line {header}. {do}" if header else do,
        "title",
    )


def open_quote(line: int | str, name: str = "", column: int | None = None) -> DataError:
    """The error for a quote that is not closed, or closed before the field ends."""
    what = "a quote is not closed"
    what = f"{place_in(name, line, column)}{what}." if column else f"{what}{_where(line, name)}."
    return DataError(what, "Mend the file, or give its quote.", "quotes")


def mixed_line_ends(name: str, line: int, end: str, first: str) -> DataError:
    """The error for lines that end differently, so that readers do not agree where a row ends."""
    return DataError(
        f"line {line} of {name} ends with {end}, the lines before it with {first}.",
        "Save the file with one kind of line ending, and put line breaks within values in quotes.",
        "line-ends",
    )


def place_in(name: str, line: int | str, column: int) -> str:
    """Where something stands in a file, before what is said of it.

    >>> place_in("a.csv", 3, 7)
    'a.csv, line 3, column 7: '
    """
    return f"{name}, line {line}, column {column}: "


def _where(line: int | str | None, name: str) -> str:
    return (f" in line {line}" if line else "") + (f" of {name}" if name else "")


def damaged(path: Path) -> DataError:
    """The error for a file that is broken, or of another format."""
    return DataError(
        f"the file {path.name} cannot be read: it is damaged, or of another format.",
        "Mend the file, or say what it is: data.format.",
        "unreadable",
    )


def wrong_encoding(encoding: str, likely: str = "cp1252 (Windows, Western Europe)") -> DataError:
    """The error for text that is not in the encoding it should be in, and likely in another one."""
    do = (
        f"Save it as UTF-8, or say which encoding it has: --encoding {likely}, "
        "or data.encoding in its plan, table.encoding in that of a table."
    )
    return DataError(f"the file is not {encoding.upper()}.", do, "encoding")
