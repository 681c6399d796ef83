"""Read SPSS, Stata and SAS files with the labels of their values, and write SPSS and Stata files.

Values are read as texts, as from any other file: an integer has no decimals, a date is written as in ISO 8601. Labels
of columns and values are stored separately, so that they can be written back.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sfumato.delimited.dialect import damaged
from sfumato.engines.canonical_text import as_text, no_text
from sfumato.engines.sql import check_names
from sfumato.errors import DataError, PlanError, extra_part
from sfumato.formats import CSV, format_named
from sfumato.hierarchies.role_detection.survey_codes import CodeBook
from sfumato.localization.messages import Message
from sfumato.microdata.recoding.mapping import STAR
from sfumato.values import Value, field

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
# File extensions and the functions of pyreadstat that read them.
READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
SPSS = (".sav", ".zsav")
# Packages that store labels of texts.
TEXT_LABELS = SPSS
# This many cells are always accepted; above, each takes at least a byte, or a fraction of one in compressed formats.
ROOM, PACKED = 1 << 20, {".zsav": 200, ".sas7bdat": 200}
WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta"}
Texts = list[str | None]
# The extension of the label file that an import writes next to its rows, and the note on it.
ENDING = ".labels.json"


class SurveyLabels(Value):
    """The labels of columns and values from a statistical package.

    Attributes:
        columns: The label of each column that has one.
        values: For each column with value labels, the label of each value's text.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"columns": dict(self.columns), "values": {name: dict(labels) for name, labels in self.values.items()}}


class Survey(Value):
    """The rows of a survey file as texts, by column, and their labels."""

    columns: Mapping[str, Texts]
    labels: SurveyLabels

    def labeled(self) -> dict[str, Texts]:
        """Return the rows with values replaced by their labels, if they have one."""
        return {
            name: [None if text is None else self.labels.values.get(name, {}).get(text, text) for text in texts]
            for name, texts in self.columns.items()
        }


def read_survey(path: Path, catalog: Path | None = None) -> Survey:
    """Read the rows of an SPSS, Stata or SAS file.

    Args:
        catalog: The separate catalog file (sas7bcat) with SAS value labels.

    Raises:
        PlanError: The extension is not that of a survey file.
        DataError: The file cannot be read, or has values without texts.
    """
    if path.suffix.lower() not in READERS:
        raise PlanError("format.the_ending_tells_no_survey", name=path.suffix, names=", ".join(READERS))
    if not path.exists():
        raise DataError("no-file.not_there", name=path.name)
    more = {} if catalog is None else {"catalog_file": str(catalog)}
    _check_room(path)
    content, meta = _read(path, **more)
    check_names(list(content))
    columns = {name: _texts(name, list(values)) for name, values in content.items()}
    return Survey(columns, _labels(meta))


def book_of(path: Path) -> CodeBook:
    """Return the labels in a survey file; empty for other files."""
    if path.suffix.lower() not in READERS or not path.exists():
        return CodeBook()
    labels = _labels(_read(path, metadataonly=True)[1])
    return CodeBook(labels.columns, labels.values)


def _read(path: Path, **options: Any) -> tuple[Any, Any]:
    """Read the values and metadata of a file; invalid dates and too large numbers raise an error."""
    with extra_part("pyreadstat", "survey"):
        import pyreadstat
    ending = path.suffix.lower()
    if ending in SPSS:
        check_dictionary(path)
    try:
        values, meta = getattr(pyreadstat, READERS[ending])(str(path), output_format="dict", **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError, OverflowError, LookupError):
        raise damaged(path) from None
    return values, meta


def _check_room(path: Path) -> None:
    """Refuse a file that declares more rows than it can contain, because the reader allocates memory for them."""
    meta = _read(path, metadataonly=True)[1]
    cells = (meta.number_rows or 0) * (meta.number_columns or 0)
    if cells > max(ROOM, PACKED.get(path.suffix.lower(), 1) * path.stat().st_size):
        raise damaged(path)


def labels_file(rows: Path) -> Path:
    """Return the path of the labels of a CSV file."""
    return rows.with_name(rows.stem + ENDING)


def read_labels(path: Path) -> SurveyLabels:
    """Read the labels that an import wrote, or those of a survey file.

    Raises:
        PlanError: The file contains none.
    """
    if path.suffix.lower() in READERS:
        book = book_of(path)
        return SurveyLabels(book.columns, book.values)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        columns = {str(name): str(label) for name, label in plain["columns"].items()}
        values = {str(name): {str(k): str(v) for k, v in texts.items()} for name, texts in plain["values"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise PlanError("labels", name=path.name) from None
    return SurveyLabels(columns, values)


def book_beside(rows: Path) -> CodeBook | None:
    """Return the labels that an import wrote next to a CSV file, or None."""
    beside = labels_file(rows)
    if format_named(rows) is not CSV or not beside.is_file():
        return None
    try:
        labels = read_labels(beside)
    except PlanError:  # another file of that name
        return None
    return CodeBook(labels.columns, labels.values)


def _texts(name: str, values: Sequence[Any]) -> Texts:
    try:
        return [None if value == "" else as_text(_whole(value)) for value in values]
    except TypeError:
        raise no_text(name) from None


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _labels(meta: Any) -> SurveyLabels:
    columns = {name: label for name, label in (meta.column_names_to_labels or {}).items() if label}
    values = {
        name: {str(as_text(_whole(value))): str(label) for value, label in labels.items()}
        for name, labels in (meta.variable_value_labels or {}).items()
    }
    return SurveyLabels(columns, values)


def write_survey(columns: Mapping[str, Texts], labels: SurveyLabels, path: Path) -> None:
    """Write rows to an SPSS or Stata file: numbers as numbers, with their column and value labels.

    Suppressed values are missing in numeric columns. Other texts, as in generalized columns, make a text column, for
    which only SPSS keeps labels. Labels of values that no longer occur are not written, because they may disclose
    something.

    Raises:
        PlanError: The extension is neither.
        DataError: The package does not support such names or values.
    """
    from sfumato.engines.dataframes.sources import frame_of, installed

    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise PlanError("format.surveys_are_not_written", name=path.suffix, names=", ".join(WRITERS))
    with extra_part("pyreadstat", "survey"):
        import pyreadstat
    numbers = {name: _numbers(texts) for name, texts in columns.items()}
    rows = {name: found if (found := numbers[name]) is not None else _present(columns[name]) for name in columns}
    value_labels = {
        name: _labels_of_texts(texts, columns[name])
        if numbers[name] is None
        else _labels_of_numbers(texts, numbers[name])
        for name, texts in labels.values.items()
        if name in columns and (numbers[name] is not None or path.suffix.lower() in TEXT_LABELS)
    }
    if path.suffix.lower() == ".dta":
        _check_whole(value_labels)
    known = {name: label for name, label in labels.columns.items() if name in columns}
    try:
        getattr(pyreadstat, writer)(
            frame_of(rows, installed("pandas", "polars")),
            str(path),
            column_labels=known,
            variable_value_labels={name: texts for name, texts in value_labels.items() if texts},
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError):
        path.unlink(missing_ok=True)  # a partial file is no file
        raise DataError("unwritable.rows_to_this_format") from None


def _check_whole(value_labels: Mapping[str, Mapping[Any, str]]) -> None:
    """Refuse labels of numbers that are no integers, because Stata has none."""
    for name, texts in value_labels.items():
        if any(number != int(number) for number in texts):
            raise DataError("unwritable.column_stata_labels_whole", column=name).about(column=name)


def _labels_of_numbers(labels: Mapping[str, str], numbers: Sequence[float | None] | None) -> dict[Any, str]:
    shown = set(numbers or ()) - {None}
    return {number: label for text, label in labels.items() if (number := _number(text)) in shown}


def _labels_of_texts(labels: Mapping[str, str], texts: Texts) -> dict[Any, str]:
    shown = set(texts)
    return {text: label for text, label in labels.items() if text in shown}


def _present(texts: Texts) -> list[str]:
    """Return texts, empty if missing, because these packages have no missing texts."""
    return ["" if text is None else text for text in texts]


def _numbers(texts: Texts) -> list[float | None] | None:
    """Return a column as numbers, missing if suppressed; None if a text is not a number."""
    numbers = [None if text is None else _number(text) for text in texts]
    wrong = any(number is None and text not in (None, STAR) for number, text in zip(numbers, texts, strict=True))
    return None if wrong or all(number is None for number in numbers) else numbers


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# Labels of a column that does not exist or of a wide text, and impossible widths, make it read outside its memory,
# which ends the program. Layout: https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html
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
            raise ValueError(Message("error.value.there_no_such_width"))
        self._going_on = self._going_on - 1 if width < 0 else max(-(-width // PART) - 1, 0)
        self._widths.append(width)
        shown_as = self._number() >> 16 & 0xFF
        if width >= 0 and shown_as != NO_FORMAT and (shown_as in TEXT_FORMATS) != (width > 0):
            raise ValueError(Message("error.value.number_shown_as_text"))
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
                raise ValueError(Message("error.value.there_no_such_column"))

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
            raise ValueError(Message("error.value.records_go_on"))
        self._stream.seek(count, 1)


def _unknown() -> None:
    raise ValueError(Message("error.value.there_no_such_record"))
