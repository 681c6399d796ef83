"""Count small plain files while they are read, because loading and starting a database takes longer.

A file is plain if it can be read in one way only: no quotes, and in every line as many fields as there are columns. All
other files are read by the database.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.delimited.dialect import encoding_of
from sfumato.delimited.header import Head
from sfumato.engines.canonical_text import numbered
from sfumato.engines.engine import MissingRules
from sfumato.engines.files import format_of, head_of
from sfumato.formats import is_packed
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.data_plan import DataPlan
from sfumato.values import Value

# Above this size, a database counts faster.
_MOST_BYTES = 1 << 20
# A byte order mark, and a character that no text contains.
_STRANGE = ("\ufeff", "\0")


class PlainFile(Value):
    """The rows of a small file, as lines."""

    head: Head
    lines: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return self.head.columns

    @property
    def separator(self) -> str:
        """The field separator."""
        return self.head.separator

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the columns for data users."""
        return self.head.notes

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        """Count the distinct combinations of some columns; an empty field is missing."""
        places = [self.columns.index(name) for name in columns]
        required = [self.columns.index(name) for name in reading.required]
        absent = {None, *reading.missing}
        rows = ([field or None for field in line.split(self.separator)] for line in self.lines)
        kept = (row for row in rows if not any(row[place] in absent for place in required))
        tallies = Counter(tuple(row[place] for place in places) for row in kept)
        coded = [numbered(texts) for texts in zip(*tallies, strict=True)] or [((), np.zeros(0, np.int32))] * len(places)
        codes = np.column_stack([each for _, each in coded])
        counts = np.fromiter(tallies.values(), np.int64, len(tallies))
        return ValueCounts(tuple(columns), tuple(texts for texts, _ in coded), codes, counts, len(self.lines))


def plain_file(path: Path, data: DataPlan) -> PlainFile | None:
    """Read a file that is small and plain; None for any other.

    Raises:
        DataError: Its header is invalid.
    """
    if not path.is_file() or not format_of(path, data).delimited or path.stat().st_size > _MOST_BYTES:
        return None
    if is_packed(path) or encoding_of(data.encoding) != "utf-8":
        return None
    if data.header is False or data.decimal != "." or data.strip:
        return None
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
    if data.quote in text or any(sign in text for sign in _STRANGE):
        return None
    lines = _lines(text)
    if lines is None:
        return None
    head = head_of([path], data, ())
    lines = lines[head.lines :]
    even = all(line.count(head.separator) == len(head.columns) - 1 for line in lines)
    return PlainFile(head, lines) if lines and even and len(head.columns) > 1 else None


def _lines(text: str) -> tuple[str, ...] | None:
    """Return the lines; None if line endings are mixed."""
    end = "\r\n" if "\r\n" in text else "\n"
    if any(text.count(sign) != (text.count(end) if sign in end else 0) for sign in "\r\n"):
        return None
    return tuple(text.removesuffix(end).split(end))
