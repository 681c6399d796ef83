"""Read small delimited files completely, and write records as text, with formulas of spreadsheets quoted."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Literal

from sfumato.delimited.dialect import Dialect, open_quote, ragged, separator_of, with_points
from sfumato.delimited.opening import first_record, open_text
from sfumato.values import Value

# White space is included, because spreadsheets ignore some of it. Fullwidth forms of the signs are formulas in some
# languages.
SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
FORMULA, QUOTED = f"^'*{SIGNS}", f"^'+{SIGNS}"
# The first characters of cells that need a closer test.
_FIRST = frozenset("'=+-@\t\r\n＝＋－＠")
# Numbers with or without separators of thousands, and a single sign, which marks a suppressed cell.
NUMBER = r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?|[+-]"


def quoted_cell(text: str) -> str:
    """Return a text as written to a file that people open in spreadsheets.

    A spreadsheet program runs a cell that begins with `=`, `+`, `-` or `@` and is no number as a formula. An apostrophe
    before the cell makes it a text. A cell that already begins with apostrophes before such a sign gets one more, so
    that the original text can be restored and different values stay different. Column names are cells, too.

    >>> quoted_cell("=cmd|' /C calc'!A0"), quoted_cell("-5"), quoted_cell("'=x"), quoted_cell("age"), quoted_cell("-")
    ("'=cmd|' /C calc'!A0", '-5', "''=x", 'age', '-')
    """
    if text[:1] not in _FIRST:
        return text
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text) else text


def plain_cell(text: str) -> str:
    """Return the original of a text in such a file.

    >>> plain_cell("'=x"), plain_cell("'x")
    ('=x', "'x")
    """
    return text[1:] if text[:1] == "'" and re.match(QUOTED, text) else text


class Line(Value):
    """A record, and the number of the line at which it ends."""

    number: int
    fields: list[str]


def read_lines(path: Path, dialect: Dialect | None = None) -> list[Line]:
    """Read all records of a file with a constant number of fields; empty lines are skipped.

    Raises:
        DataError: It is not in its encoding, a quote is not closed, or a line has a different number of fields.
        EngineError: The system refuses to read it.
    """
    known = dialect or Dialect()
    with open_text(path, known.encoding) as stream:
        return list(_lines(stream, known, path.name))


def parse_lines(text: str, dialect: Dialect | None = None) -> list[Line]:
    """Parse the records of a text in the same way."""
    return list(_lines(io.StringIO(text), dialect or Dialect(), "the text"))


def _lines(stream: IO[str], dialect: Dialect, name: str) -> Iterator[Line]:
    separator = separator_of(dialect, first_record(stream, dialect.quote))
    stream.seek(0)
    reader = csv.reader(stream, delimiter=separator, quotechar=dialect.quote, strict=True)
    width = 0
    try:
        for fields in reader:
            width = width or len(fields)
            if fields and len(fields) != width:
                raise ragged(reader.line_num, name, min(len(fields), width) + 1)
            if fields:
                yield Line(reader.line_num, with_points(fields) if dialect.decimal == "," else fields)
    except csv.Error:
        raise open_quote(reader.line_num, name, 1) from None


def delimited_text(
    records: Iterable[Iterable[object]], separator: str = ",", formulas: Literal["quote", "keep"] = "quote"
) -> str:
    """Return records as delimited text, with None as an empty field.

    Args:
        formulas: Whether cells that spreadsheets would evaluate are quoted, for files that people open, or kept, for
            programs.

    >>> delimited_text([["name", "note"], ["Ada", "1, 2"]]).splitlines()
    ['name,note', 'Ada,"1, 2"']
    >>> delimited_text([["=1+1", -2]])
    "'=1+1,-2\\n"
    """
    stream = io.StringIO()
    if formulas == "quote":
        records = ([quoted_cell(text) if isinstance(text, str) else text for text in record] for record in records)
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(records)
    return stream.getvalue()
