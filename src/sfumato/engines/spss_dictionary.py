"""Validate the dictionary of an SPSS file before it is read, because the reader in C does not.

Labels of a column that does not exist or of a wide text, and impossible widths, make it read outside its memory, which
ends the program. Layout: https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html
"""

import struct
from pathlib import Path
from typing import IO

from sfumato.delimited.errors import damaged

# The position and values of the byte order mark in the header, and the length of the header.
LAYOUT, LAYOUTS, HEADER = 64, (2, 3), 176
# Record types.
COLUMN, LABELS, LABELED, DOCUMENTS, FURTHER, END = 2, 3, 4, 6, 7, 999
# Widths of columns: 0 is a number, -1 continues the text of the previous column.
WIDTHS = range(-1, 256)
# Types of text formats; some programs write none at all.
TEXT_FORMATS, NO_FORMAT = (1, 2), 0
# Bytes of a text per record.
PART = 8
# Labels of wider texts are in the extension records.
LABELED_WIDTHS = range(9)
LINE = 80


def check_dictionary(path: Path) -> None:
    """Refuse an SPSS file with an invalid dictionary.

    Raises:
        DataError: Its records extend beyond its end, or refer to columns that do not exist.
    """
    try:
        with path.open("rb") as stream:
            _Dictionary(stream).check()
    except (EOFError, ValueError, OSError):
        raise damaged(path) from None


class _Dictionary:
    """The records of a file before its rows."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        stream.seek(LAYOUT)
        layout = stream.read(4)
        self._order = ">" if int.from_bytes(layout, "big") in LAYOUTS else "<"
        self._widths: list[int] = []
        self._going_on = 0  # number of further records that belong to the text of the previous column
        stream.seek(HEADER)

    def check(self) -> None:
        while (kind := self._number()) != END:
            {
                COLUMN: self._column,
                LABELS: self._labels,
                LABELED: self._labeled,
                DOCUMENTS: lambda: self._skip(self._number() * LINE),
                FURTHER: self._further,
            }.get(kind, _unknown)()

    def _column(self) -> None:
        width, labeled, missing = self._number(), self._number(), self._number()
        if width not in WIDTHS or (width < 0) != (self._going_on > 0):
            raise ValueError("there is no such width, or no text that goes on here")
        self._going_on = self._going_on - 1 if width < 0 else max(-(-width // PART) - 1, 0)
        self._widths.append(width)
        shown_as = self._number() >> 16 & 0xFF
        if width >= 0 and shown_as != NO_FORMAT and (shown_as in TEXT_FORMATS) != (width > 0):
            raise ValueError("a number is shown as a text, or a text as a number")
        self._skip(12)  # another format, and the name
        if labeled:
            self._skip(-(-self._number() // 4) * 4)
        self._skip(abs(missing) * 8)

    def _labels(self) -> None:
        for _ in range(self._number()):
            self._skip(8)
            self._skip((self._read(1)[0] + 8) // 8 * 8 - 1)

    def _labeled(self) -> None:
        for _ in range(self._number()):
            place = self._number()
            if not 0 < place <= len(self._widths) or self._widths[place - 1] not in LABELED_WIDTHS:
                raise ValueError("there is no such column, or none with labels")

    def _further(self) -> None:
        self._number()
        self._skip(self._number() * self._number())

    def _number(self) -> int:
        number: int = struct.unpack(f"{self._order}i", self._read(4))[0]
        return number

    def _read(self, count: int) -> bytes:
        content = self._stream.read(count)
        if len(content) < count:
            raise EOFError
        return content

    def _skip(self, count: int) -> None:
        if count < 0:
            raise ValueError("records go on")
        self._stream.seek(count, 1)


def _unknown() -> None:
    raise ValueError("there is no such record")
