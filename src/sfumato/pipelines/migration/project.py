"""An imported project: a plan, its files, and what could not be converted."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from sfumato.atomic_folders import check_free, staged, write_text
from sfumato.engines.record_io import read_records
from sfumato.engines.survey_files import SurveyLabels, labels_file, read_labels, read_survey, write_survey
from sfumato.hierarchies.hierarchy import hierarchy_csv
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_folder import Release
from sfumato.values import Value, field

LEFT_OUT = "left-out.txt"


class ImportedProject(Value):
    """The converted project of another tool.

    Attributes:
        plan: The plan in plain values, with paths relative to it.
        files: Its files, by their paths relative to the plan.
        left_out: What could not be converted, in sentences.
        beside: The folder that contains the rows named by the plan, if they are not among its files.
    """

    plan: dict[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    beside: Path | None = None

    def save(self, folder: str | Path) -> Plan:
        """Write plan.yaml, its files and the list of omissions to a new folder atomically.

        Raises:
            PlanError: The folder exists, or the converted plan is invalid.
        """
        import yaml

        target = Path(folder)
        with staged(target) as stage:
            for name, content in self.files.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(content)
            plan = self._plan_in(target)
            write_text(stage / "plan.yaml", yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=120))
            write_text(stage / LEFT_OUT, "".join(f"{line}\n" for line in self.left_out) or "Nothing was left out.\n")
            read_plan(stage / "plan.yaml")
        return read_plan(target / "plan.yaml")

    def _plan_in(self, target: Path) -> dict[str, Any]:
        """Return the plan with the path of external rows relative to the plan's new folder."""
        source = self.plan.get("data", {}).get("source")
        if self.beside is None or source is None or source in self.files or Path(source).is_absolute():
            return self.plan
        moved = Path(os.path.relpath(self.beside / source, target)).as_posix()
        return self.plan | {"data": self.plan["data"] | {"source": moved}}


class Import(Value):
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


Tool = Literal["arx", "sdcmicro"]
# Field separators: ARX uses ; by default, read.csv of R a comma.
SEPARATORS: dict[Tool, str] = {"arx": ";", "sdcmicro": ","}
# Missing values: NULL in ARX, NA in R.
MISSING: dict[Tool, str] = {"arx": "NULL", "sdcmicro": "NA"}


def export(release: Release, folder: str | Path, tool: Tool = "arx") -> Path:
    """Write a release for another tool: data.csv, and hierarchies/<column>.csv with one row for each value.

    Args:
        folder: The folder to create; it must not exist.
        tool: The layout: `arx` (separator ;), or `sdcmicro` (a comma, as read.csv of R expects).

    Raises:
        PlanError: The folder exists.
    """
    target, separator = Path(folder), SEPARATORS[tool]
    with staged(target) as stage:
        (stage / "hierarchies").mkdir()
        for column, ladder in zip(release.table.columns, release.table.ladders, strict=True):
            name = "".join(sign if sign.isalnum() or sign in "_.-" else "-" for sign in column)
            write_text(stage / "hierarchies" / f"{name}.csv", hierarchy_csv(ladder, separator))
        with (stage / "data.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
            writer.writerows(_rows(release, MISSING[tool]))
    return target


def _rows(release: Release, missing: str) -> Iterator[Sequence[Any]]:
    """Yield the header and the published rows as texts."""
    import narwhals as nw

    data = release.data
    frame: Any = nw.from_native(release.published.frame() if isinstance(data, Path) else data, eager_only=True)  # type: ignore[attr-defined]
    yield frame.columns
    for row in frame.iter_rows():
        yield [missing if value is None else value for value in row]
