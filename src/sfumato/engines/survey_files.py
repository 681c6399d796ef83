"""Read SPSS, Stata and SAS files with the labels of their values, and write SPSS and Stata files.

Values are read as texts, as from any other file: a whole number has no decimals, a date is written as in ISO 8601.
Labels of columns and values are kept apart, so that they can be written back.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.delimited.errors import damaged
from sfumato.engines.canonical_text import as_text, no_text
from sfumato.engines.identifier_checks import check_names
from sfumato.engines.spss_dictionary import check_dictionary
from sfumato.errors import DataError, PlanError, extra_part
from sfumato.hierarchies.role_detection.survey_codes import CodeBook
from sfumato.microdata.recoding.recoding import STAR

# Endings of files, and what pyreadstat reads them with.
READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
SPSS = (".sav", ".zsav")
# Packages that keep labels of texts.
TEXT_LABELS = SPSS
# So many cells are never too many; beyond, each takes a byte at least, or one in so many of what is packed once more.
ROOM, PACKED = 1 << 20, {".zsav": 200, ".sas7bdat": 200}
WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta"}
Texts = list[str | None]
# How the file ends that an import writes beside its rows, and what is said of it.
ENDING = ".labels.json"
LABELS_BESIDE = "What columns and codes mean was taken from {name}, which lies beside the file."


@dataclass(frozen=True, slots=True)
class SurveyLabels:
    """What a statistical package knows of columns besides their values.

    Attributes:
        columns: The label of each column that has one.
        values: For each column whose values have labels, the label of each value's text.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"columns": dict(self.columns), "values": {name: dict(labels) for name, labels in self.values.items()}}


@dataclass(frozen=True, slots=True)
class Survey:
    """The rows of such a file as texts, by column, and their labels."""

    columns: Mapping[str, Texts]
    labels: SurveyLabels

    def labeled(self) -> dict[str, Texts]:
        """The rows with the labels of values in place of the values that have one."""
        return {
            name: [None if text is None else self.labels.values.get(name, {}).get(text, text) for text in texts]
            for name, texts in self.columns.items()
        }


def read_survey(path: Path, catalog: Path | None = None) -> Survey:
    """The rows of an SPSS, Stata or SAS file.

    Args:
        catalog: The file with the labels of values (sas7bcat), which SAS keeps apart.

    Raises:
        PlanError: The ending tells no such file.
        DataError: The file cannot be read, or has values without texts.
    """
    if path.suffix.lower() not in READERS:
        raise PlanError(f'the ending "{path.suffix}" tells no survey.', f"Known: {', '.join(READERS)}.", "format")
    if not path.exists():
        raise DataError(f"there is no file {path.name}.", "Check the path.", "no-file")
    more = {} if catalog is None else {"catalog_file": str(catalog)}
    _check_room(path)
    content, meta = _read(path, **more)
    check_names(list(content))
    columns = {name: _texts(name, list(values)) for name, values in content.items()}
    return Survey(columns, _labels(meta))


def book_of(path: Path) -> CodeBook:
    """What the package knows of the columns of a file besides their values; nothing where it is no survey."""
    if path.suffix.lower() not in READERS or not path.exists():
        return CodeBook()
    labels = _labels(_read(path, metadataonly=True)[1])
    return CodeBook(labels.columns, labels.values)


def _read(path: Path, **options: Any) -> tuple[Any, Any]:
    """What the reader makes of a file: its values and what is known of them; numbers may be no dates, or too large."""
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
    """Refuse a file that tells of more rows than it can hold: the reader makes room for as many as it is told."""
    meta = _read(path, metadataonly=True)[1]
    cells = (meta.number_rows or 0) * (meta.number_columns or 0)
    if cells > max(ROOM, PACKED.get(path.suffix.lower(), 1) * path.stat().st_size):
        raise damaged(path)


def labels_file(rows: Path) -> Path:
    """Where the labels of a CSV file lie."""
    return rows.with_name(rows.stem + ENDING)


def read_labels(path: Path) -> SurveyLabels:
    """The labels that an import wrote, or those of a survey itself.

    Raises:
        PlanError: The file holds none.
    """
    if path.suffix.lower() in READERS:
        book = book_of(path)
        return SurveyLabels(book.columns, book.values)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        columns = {str(name): str(label) for name, label in plain["columns"].items()}
        values = {str(name): {str(k): str(v) for k, v in texts.items()} for name, texts in plain["values"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise PlanError(f"{path.name} holds no labels of a survey.", "Give the file of its import.", "labels") from None
    return SurveyLabels(columns, values)


def book_beside(rows: Path) -> CodeBook | None:
    """The labels that an import wrote beside a CSV file; None where there are none."""
    beside = labels_file(rows)
    if rows.suffix.lower() != ".csv" or not beside.is_file():
        return None
    try:
        labels = read_labels(beside)
    except PlanError:  # a file of somebody else
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
    """Write rows to an SPSS or Stata file: numbers as numbers, with the labels of columns and values that they had.

    What was withheld is missing among numbers. Other texts, as those of generalized columns, make their column one of
    texts, whose labels SPSS alone keeps. Labels of values that are gone are not written: they may tell of somebody.

    Raises:
        PlanError: The ending tells neither.
        DataError: The package takes no such names or values.
    """
    from sfumato.engines.dataframes.sources import frame_of, installed

    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise PlanError(f'surveys are not written as "{path.suffix}".', f"Known: {', '.join(WRITERS)}.", "format")
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
        path.unlink(missing_ok=True)  # what was begun is no file
        raise DataError(
            "the rows cannot be written to this kind of file.",
            "Names of columns must be short and plain, texts and labels not too long, codes with labels not too large.",
            "unwritable",
        ) from None


def _check_whole(value_labels: Mapping[str, Mapping[Any, str]]) -> None:
    """Refuse labels of numbers that are not whole: Stata has none."""
    for name, texts in value_labels.items():
        if any(number != int(number) for number in texts):
            raise DataError(
                f'column "{name}": Stata labels whole numbers alone, and some with a label are not.',
                "Leave out the labels of this column, or write SPSS (.sav).",
                "unwritable",
                column=name,
            )


def _labels_of_numbers(labels: Mapping[str, str], numbers: Sequence[float | None] | None) -> dict[Any, str]:
    shown = set(numbers or ()) - {None}
    return {number: label for text, label in labels.items() if (number := _number(text)) in shown}


def _labels_of_texts(labels: Mapping[str, str], texts: Texts) -> dict[Any, str]:
    shown = set(texts)
    return {text: label for text, label in labels.items() if text in shown}


def _present(texts: Texts) -> list[str]:
    """Texts, an empty one where one is missing: these packages know no other for texts."""
    return ["" if text is None else text for text in texts]


def _numbers(texts: Texts) -> list[float | None] | None:
    """A column as numbers, missing where one is withheld; None where some text is none."""
    numbers = [None if text is None else _number(text) for text in texts]
    wrong = any(number is None and text not in (None, STAR) for number, text in zip(numbers, texts, strict=True))
    return None if wrong or all(number is None for number in numbers) else numbers


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
