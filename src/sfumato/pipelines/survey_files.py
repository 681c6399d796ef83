"""Import and export surveys: rows of SPSS, Stata and SAS files as CSV with separate labels, and back."""

import csv
import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from sfumato.atomic_folders import check_free, write_text
from sfumato.dataclass import dataclass
from sfumato.engines.record_io import read_records
from sfumato.engines.survey_files import SurveyLabels, labels_file, read_labels, read_survey, write_survey


@dataclass(frozen=True, slots=True)
class Import:
    """The numbers of imported rows and columns, and of columns with value labels."""

    rows: int
    columns: int
    labeled_columns: int
    labels: str

    def text(self) -> str:
        return (
            f"{self.rows:,} rows of {self.columns} columns, {self.labeled_columns} of them with labels for values "
            f"(in {self.labels})\n"
        )


def import_survey(path: Path, out: Path, *, labels: bool = False, catalog: Path | None = None) -> Import:
    """Read an SPSS, Stata or SAS file, and write its rows as CSV and its labels next to it.

    Args:
        out: The CSV file; the labels are written to a file of the same name with the ending .labels.json.
        labels: Whether value labels are written instead of the values.
        catalog: The catalog file in which SAS keeps value labels.
    """
    beside = labels_file(out)
    for target in (out, beside):
        check_free(target)
    survey = read_survey(path, catalog)
    columns = survey.labeled() if labels else dict(survey.columns)
    write_text(out, _csv(columns))
    write_text(beside, json.dumps(survey.labels.to_dict(), indent=1, ensure_ascii=False) + "\n")
    rows = len(next(iter(columns.values()), []))
    return Import(rows, len(columns), len(survey.labels.values), beside.name)


def _csv(columns: Mapping[str, list[str | None]]) -> str:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if text is None else text for text in row] for row in zip(*columns.values(), strict=True))
    return stream.getvalue()


def export_survey(rows: Path, out: Path, labels: Path | None = None) -> int:
    """Write the rows of a CSV or Parquet file to an SPSS or Stata file, and return their number.

    Args:
        labels: The labels that an import wrote, or the survey that was released.
    """
    check_free(out)
    records = read_records(rows)
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [_text(record.get(name)) for record in records] for name in names}
    write_survey(columns, read_labels(labels) if labels is not None else SurveyLabels(), out)
    return len(records)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
