"""Input files: expand a path, detect the format, compute checksums, check that CSV files share a header."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sfumato.confinement import check_open
from sfumato.delimited.header import Head, read_head
from sfumato.engines.identifier_checks import check_names
from sfumato.errors import DataError, PlanError
from sfumato.microdata.data_plan import DataPlan

FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".data", ".gz"),
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "excel": (".xlsx", ".xls", ".xlsb", ".ods"),
    "sqlite": (".sqlite", ".sqlite3", ".db"),
    "duckdb": (".duckdb", ".ddb"),
    "survey": (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
}
PLANS = (".yaml", ".yml")
_LOOKED_AT_BYTES = 1 << 16
SUFFIXES = {suffix: form for form, suffixes in FORMATS.items() for suffix in suffixes}


def format_of(path: Path, data: DataPlan) -> str:
    """Return the format of a file: as in the plan, or by its extension."""
    if data.format is not None:
        return data.format
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and (path.is_dir() or not path.exists()):
        suffix = files_of(path)[0].suffix.lower()
    if suffix in PLANS:
        raise PlanError("format.is_a_plan_by_its", name=path.name)
    if suffix not in SUFFIXES:
        raise PlanError("format.data_format_ending_belongs", suffix=path.suffix, names=", ".join(sorted(FORMATS)))
    return SUFFIXES[suffix]


def files_of(path: Path) -> list[Path]:
    """Return the files of a path, which may be a file, a folder or a pattern with `*`, sorted by name.

    Raises:
        DataError: There is none.
    """
    places = [path] if path.exists() else _matching(path)
    files = {file for place in places for file in ([place] if place.is_file() else _files_within(place))}
    for file in files:
        check_open(file)
    if not files:
        raise DataError("no-file.there_is_no_file_2", name=path.name)
    return sorted(files)


def _matching(pattern: Path) -> list[Path]:
    from glob import glob

    return [Path(place) for place in glob(str(pattern), recursive=True)]  # noqa: PTH207


def _files_within(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]


def files_in(path: Path, form: str) -> list[Path]:
    """Return the files of a format for a path; in a folder, those with its extensions, or all if there are none."""
    files = files_of(path)
    fitting = [file for file in files if SUFFIXES.get(file.suffix.lower()) == form] if path.is_dir() else []
    return fitting or files


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder or pattern, sorted by name."""
    import hashlib

    digest = hashlib.sha256()
    for file in files_of(path):
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()


def about_rows(path: Path) -> int | None:
    """Estimate the number of rows of delimited files by the length of their first lines; None if compressed."""
    files = files_of(path)
    if any(file.suffix.lower() == ".gz" for file in files):
        return None
    with files[0].open("rb") as stream:
        start = stream.read(_LOOKED_AT_BYTES)
    return sum(file.stat().st_size for file in files) * max(start.count(b"\n"), 1) // max(len(start), 1)


def head_of(files: Sequence[Path], data: DataPlan, names: Sequence[str]) -> Head:
    """Read the header that all files of a source share; `names` are the column names without a header.

    Fields are assigned to columns by position, so a file with another header would have values in the wrong columns.

    Raises:
        DataError: A file has another header.
    """
    head = read_head(files[0], data.dialect, names)
    check_names(head.columns)
    for file in files[1:]:
        if read_head(file, replace(data.dialect, separator=head.separator), names) != head:
            raise other_columns(file, files[0])
    return head


def other_columns(file: Path, first: Path) -> DataError:
    """Return the error for a file whose columns differ from those of the first one."""
    return DataError("different-columns", name=file.name, other=first.name)
