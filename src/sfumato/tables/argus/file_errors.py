"""Errors in τ-ARGUS files: each error names line, column and what to do. Also reads the lines of such files."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.delimited.opening import open_text, wide_encoding
from sfumato.errors import DataError, Hint, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.cells.columns import finite


def wrong(
    name: str,
    line: int,
    column: int,
    code: str = "format",
    /,
    *,
    message: Message | None = None,
    hint: Hint | None = None,
    **values: object,
) -> DataError:
    """Return the error for a position in a file, by its code.

    >>> print(wrong("a.jj", 3, 1, "truncated", what="a line"))
    a.jj, line 3, column 1: the file ends before a line. The file is cut off: get it whole.
    """
    error = DataError(code, message=message, hint=hint, **values)
    return error.about(rows=[line]).at(name, line, column)


# Default encoding of files that are not UTF-8: the usual one of Windows programs.
WINDOWS = "cp1252"


def lines_of(path: Path, encoding: str | None = None) -> list[str]:
    """Return the lines of a file, without line ends.

    Args:
        encoding: Encoding of the file; detected if None.

    Raises:
        DataError: The file is missing, or has another encoding.
    """
    with open_text(path, encoding or likely_encoding(path)) as stream:
        return stream.read().replace("\x1a", "").splitlines()


def likely_encoding(path: Path, other: str | None = None) -> str:
    """Return the encoding of a file: UTF-16 if its first bytes show it, UTF-8 if valid, else `other` or Windows."""
    if (wide := wide_encoding(path)) is not None:
        return wide
    try:
        content = path.read_bytes()
        content.decode("utf-8")
    except UnicodeDecodeError:
        return other or WINDOWS
    except (OSError, ValueError):  # opening the file reports the error
        return "utf-8"
    return "utf-8"


def number_in(text: str, name: str, line: int, column: int, what: str | None = None) -> float:
    """Parse a number of a file.

    Raises:
        DataError: The text is not a number.
    """
    value = finite(text.replace(",", "."))
    if value is None:
        raise wrong(name, line, column, "format.expected", what=what or Message("phrase.number"))
    return value


def fields_in(line: str, separator: str | None) -> list[tuple[str, int]]:
    """Return the fields of a line with their start columns; separated by blanks if there is no separator.

    >>> fields_in("a; b", ";")
    [('a', 1), ('b', 3)]
    """
    if separator is None:
        return _by_blanks(line)
    fields, start, place, quoted = list[tuple[str, int]](), 0, 0, False
    for place, sign in enumerate(line):
        if sign == '"':
            quoted = not quoted
        elif sign == separator and not quoted:
            fields.append((_bare(line[start:place]), start + 1))
            start = place + 1
    return [*fields, (_bare(line[start:]), start + 1)]


def _by_blanks(line: str) -> list[tuple[str, int]]:
    fields, place = [], 0
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        end = line.find('"', place + 1) + 1 if line[place] == '"' else place
        if end <= place:
            end = place
            while end < len(line) and not line[end].isspace():
                end += 1
        fields.append((_bare(line[place:end]), place + 1))
        place = end
    return fields


def _bare(text: str) -> str:
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare


def office_field(text: str, separator: str | None, where: str) -> str:
    """Return a text as a field of a τ-ARGUS file, in quotes if it contains the separator, or blanks without
    one.

    Raises:
        PlanError: The text contains a quote or a line break, which these files cannot represent.

    >>> office_field("a;b", ";", "region"), office_field("a b", ";", "region")
    ('"a;b"', 'a b')
    """
    check_text(text, where)
    within = any(sign.isspace() for sign in text) if separator is None else separator in text
    return f'"{text}"' if within or text != text.strip() else text


def check_text(text: str, where: str) -> None:
    """Refuse a text for files in which quotes cannot be escaped."""
    if any(sign in text for sign in '"\r\n'):
        raise PlanError("unwritable.a_name_or_code_has_a_quote", name=where)


def quoted(texts: Sequence[str]) -> str:
    """Return texts in quotes, concatenated.

    >>> quoted(["a", "b"])
    '"a""b"'
    """
    return "".join(f'"{text}"' for text in texts)
