"""File formats of rows, one object each: file extensions, functions that read and write, and supported content.

Other modules never compare file extensions. A new format is an entry of `FORMATS`, its functions, and its name in
the types of `data.format` and `output.format`.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from sfumato.values import Value, field

# The extension of a compressed text file.
PACKED = ".gz"


class Format(Value):
    """A file format of rows.

    Attributes:
        name: Its name in plans.
        suffixes: Endings of its files, the usual one first.
        media_type: Its media type in answers of the service.
        reads: The function with which each engine reads it, as "module:function" in `engines`; loaded when it is used.
        writes: Likewise for writing.
        uploads: Endings that pages accept; without sources that may refer to other files of the server.
        delimited: Whether it is text with a separator, an encoding and a decimal mark.
        headed: Whether it may lack column names.
        keeps_types: Whether its values have types; the number of its rows is known without reading them.
        splits: Whether a release can be a folder of its files, split by the values of columns.
        copied: Whether DuckDB writes it itself; for others, `writes` converts a Parquet file.
        cells: Whether tables of cells in such files are read like rows.
        is_database: Whether it may hold several tables, and views of other files.
        lines: Endings of files with one record on each line.
    """

    name: str
    suffixes: tuple[str, ...]
    media_type: str = "application/octet-stream"
    reads: Mapping[str, str] = field(default_factory=dict)
    writes: Mapping[str, str] = field(default_factory=dict)
    uploads: tuple[str, ...] = ()
    delimited: bool = False
    headed: bool = False
    keeps_types: bool = False
    splits: bool = False
    copied: bool = False
    cells: bool = False
    is_database: bool = False
    lines: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The usual ending of its files."""
        return self.suffixes[0]

    @property
    def published(self) -> str:
        """The name of the published rows in a release folder."""
        return f"data{self.suffix}"

    def reader(self, engine: str) -> Any:
        """Return the function with which an engine reads it; None if the engine cannot."""
        return _loaded(self.reads.get(engine))

    def writer(self, engine: str) -> Any:
        """Return the function with which an engine writes it; None if the engine cannot."""
        return _loaded(self.writes.get(engine))


def _loaded(reference: str | None) -> Any:
    module, _, name = (reference or "").partition(":")
    return getattr(import_module(f"sfumato.engines.{module}"), name) if name else None


CSV = Format(
    "csv",
    (".csv", ".tsv", ".txt", ".data", PACKED),
    media_type="text/csv",
    reads={
        "duckdb": "duckdb.sources:read_csv",
        "spark": "spark.sources:read_csv",
        "records": "record_io:read_csv",
    },
    writes={
        "duckdb": "duckdb.writing:csv_options",
        "spark": "spark.engine:write_csv",
        "records": "record_io:write_csv",
    },
    uploads=(".csv", ".tsv", ".txt"),
    delimited=True,
    headed=True,
    copied=True,
)
PARQUET = Format(
    "parquet",
    (".parquet", ".pq"),
    media_type="application/vnd.apache.parquet",
    reads={
        "duckdb": "duckdb.sources:read_parquet",
        "spark": "spark.sources:read_parquet",
        "records": "record_io:read_parquet",
    },
    writes={
        "duckdb": "duckdb.writing:parquet_options",
        "spark": "spark.engine:write_parquet",
        "records": "record_io:write_parquet",
    },
    uploads=(".parquet",),
    keeps_types=True,
    splits=True,
    copied=True,
    cells=True,
)
ARROW = Format(
    "arrow",
    (".arrow", ".feather"),
    media_type="application/vnd.apache.arrow.file",
    reads={"duckdb": "arrow_files:read_arrow", "records": "arrow_files:read_records"},
    writes={"duckdb": "arrow_files:write_arrow", "records": "arrow_files:write_records"},
    uploads=(".arrow", ".feather"),
    keeps_types=True,
    cells=True,
)
JSON = Format(
    "json",
    (".json", ".jsonl", ".ndjson"),
    media_type="application/json",
    reads={"duckdb": "duckdb.sources:read_json", "records": "record_io:read_json"},
    writes={"records": "record_io:write_json"},
    uploads=(".json", ".jsonl"),
    cells=True,
    lines=(".jsonl", ".ndjson"),
)
EXCEL = Format(
    "excel",
    (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    reads={"duckdb": "duckdb.sources:read_workbook"},
    uploads=(".xlsx", ".xls", ".ods"),
    headed=True,
    cells=True,
)
SQLITE = Format(
    "sqlite",
    (".sqlite", ".sqlite3", ".db"),
    media_type="application/vnd.sqlite3",
    reads={"duckdb": "duckdb.sources:read_sqlite"},
    is_database=True,
)
DUCKDB_FILE = Format("duckdb", (".duckdb", ".ddb"), reads={"duckdb": "duckdb.sources:read_duckdb"}, is_database=True)
SURVEY = Format(
    "survey",
    (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
    reads={"duckdb": "duckdb.sources:read_survey_file"},
)

FORMATS = {form.name: form for form in (CSV, PARQUET, ARROW, JSON, EXCEL, SQLITE, DUCKDB_FILE, SURVEY)}
# Formats of releases, and names of their files; endings of uploaded rows.
RELEASED = tuple(form for form in FORMATS.values() if "duckdb" in form.writes)
PUBLISHED = tuple(form.published for form in RELEASED)
UPLOADS = tuple(suffix for form in FORMATS.values() for suffix in form.uploads)
_BY_SUFFIX = {suffix: form for form in FORMATS.values() for suffix in form.suffixes}


def format_named(path: str | PurePath) -> Format | None:
    """Return the format that the ending of a file name indicates; None if it is no file of rows.

    >>> format_named("Patients.TSV").name, format_named("plan.yaml")
    ('csv', None)
    """
    return _BY_SUFFIX.get(PurePath(path).suffix.lower())


def is_packed(path: Path) -> bool:
    """Return whether a text file is compressed."""
    return path.suffix.lower() == PACKED
