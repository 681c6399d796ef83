"""Sources: where rows may lie, each as a table expression that DuckDB reads; nothing is downloaded for any of them."""

import codecs
import csv
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines import sql
from sfumato.errors import DataError, EngineError, PlanError, missing_extra
from sfumato.plan.model import DataPlan

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}
SEPARATORS = ",;\t|"
# Encodings that DuckDB reads by itself; files in others are rewritten as UTF-8 first.
NATIVE_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16"}


@dataclass(frozen=True, slots=True)
class Source:
    """Rows that DuckDB can read.

    Attributes:
        table: The table expression.
        columns: Names of the columns.
        separator: Of a CSV file, for writing the release alike.
    """

    table: str
    columns: tuple[str, ...]
    separator: str = ","


def format_of(path: Path, data: DataPlan) -> str:
    """The format of a file: as the plan says, or by its ending."""
    if data.format is not None:
        return data.format
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and (path.is_dir() or not path.exists()):
        suffix = files_of(path)[0].suffix.lower()
    if suffix not in SUFFIXES:
        raise PlanError(
            f'data.format: the ending "{path.suffix}" tells no format.',
            f"Give one of {', '.join(sorted(set(SUFFIXES.values())))}.",
            "format",
        )
    return SUFFIXES[suffix]


def open_source(connection: Any, path: Path, data: DataPlan, names: Sequence[str], scratch: Path) -> Source:
    """A source for a file.

    Args:
        names: The columns' names when a CSV file has no header.
        scratch: A private folder for files that live as long as the engine.
    """
    if not path.exists():
        files_of(path)
    opener: Callable[[Any, Path, DataPlan, Sequence[str], Path], Source] = {
        "csv": _csv,
        "parquet": _parquet,
        "json": _json,
        "excel": _excel,
        "sqlite": _sqlite,
        "duckdb": _duckdb,
    }[format_of(path, data)]
    return opener(connection, path, data, names, scratch)


def files_of(path: Path) -> list[Path]:
    """The files behind a path, which may be a file, a folder or a pattern with `*`, in the order of their names.

    Raises:
        DataError: There is none.
    """
    if path.is_dir():
        found = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]
    else:
        found = [path] if path.exists() else [Path(file) for file in glob(str(path), recursive=True)]  # noqa: PTH207
    if not found:
        raise DataError(
            f"there is no file {path.name}.", "Check data.source, which is relative to the plan.", "no-file"
        )
    return sorted(found)


def fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder or pattern in the order of their names."""
    digest = hashlib.sha256()
    for file in files_of(path):
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """What the first record of a CSV file tells: its columns' names and their separator."""

    columns: tuple[str, ...]
    separator: str


def csv_head(path: Path, data: DataPlan, names: Sequence[str]) -> Head:
    """The head of a CSV file; `names` are the columns' names when it has no header."""
    first = _first_record(path, data)
    separator = data.separator or _separator(first)
    head = _split(first, separator, data.quote)
    columns = tuple(name.strip() if data.strip else name for name in head) if data.header else tuple(names)
    _check_columns(columns, len(head), data.header)
    return Head(columns, separator)


def _csv(_connection: Any, path: Path, data: DataPlan, names: Sequence[str], scratch: Path) -> Source:
    encoding = _encoding(data.encoding)
    head = csv_head(files_of(path)[0], data, names)
    if encoding not in NATIVE_ENCODINGS:
        path, encoding = _as_utf8(path, data.encoding, scratch), "utf-8"
    pattern = path / "**" / "*.csv*" if path.is_dir() else path
    table = csv_table(pattern, head.columns, head.separator, data.quote, NATIVE_ENCODINGS[encoding], data.header)
    return Source(table, head.columns, head.separator)


def csv_table(
    path: Path,
    columns: Sequence[str],
    separator: str,
    quote: str = '"',
    encoding: str = "utf-8",
    header: bool = True,
    published: bool = False,
) -> str:
    """The table expression for a CSV file, every value a text.

    Args:
        published: Whether Sfumato wrote the file, so that an empty field in quotes is an empty text, not missing.
    """
    kinds = sql.listed(f"{sql.text(column)}: 'VARCHAR'" for column in columns)
    return (
        f"read_csv({sql.text(str(path))}, auto_detect=false, header={str(header).lower()}, "
        f"delim={sql.text(separator)}, quote={sql.text(quote)}, escape={sql.text(quote)}, nullstr='', "
        f"encoding={sql.text(encoding)}, "
        f"allow_quoted_nulls={str(not published).lower()}, strict_mode=true, null_padding=false, columns={{{kinds}}})"
    )


def _encoding(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise PlanError(
            f'data.encoding: "{name}" is no encoding.', "For example utf-8, latin-1, cp1252.", "encoding"
        ) from None


def _first_record(path: Path, data: DataPlan) -> str:
    """The first record of a CSV file, line breaks within quotes included."""
    import gzip

    opened = gzip.open if path.suffix.lower() == ".gz" else open
    encoding = "utf-8-sig" if _encoding(data.encoding) == "utf-8" else data.encoding
    try:
        with opened(path, "rt", encoding=encoding, newline="") as stream:
            record = stream.readline()
            while record.count(data.quote) % 2 and (line := stream.readline()):
                record += line
    except UnicodeError:
        raise wrong_encoding(data.encoding) from None
    except OSError as error:
        raise EngineError(f"the file {path.name} cannot be read: {error.strerror}.", "", "unreadable") from None
    if not record.strip():
        raise DataError("the file is empty.", "It needs a header and rows.", "empty")
    return record.rstrip("\r\n")


def wrong_encoding(encoding: str) -> DataError:
    """The error for text that is not in the encoding it should be in."""
    return DataError(
        f"the file is not {encoding}.", "Say which encoding it has: data.encoding, for example latin-1.", "encoding"
    )


def _separator(record: str) -> str:
    return max(SEPARATORS, key=record.count)


def _split(record: str, separator: str, quote: str) -> list[str]:
    return next(csv.reader([record], delimiter=separator, quotechar=quote))


def _check_columns(columns: tuple[str, ...], width: int, header: bool) -> None:
    if len(columns) != width:
        raise DataError(
            f"the file has {width} columns and no header, the plan names {len(columns)}.",
            "Name them all, in order.",
            "columns",
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise DataError(
            f"two columns have the same name: {', '.join(twice)}.",
            "Give every column a name of its own.",
            "duplicate-columns",
        )
    if header and "" in columns:
        raise DataError(f"column {columns.index('') + 1} has no name.", "Give every column a name.", "unnamed-column")


def _as_utf8(path: Path, encoding: str, scratch: Path) -> Path:
    target = scratch / "source.csv"
    try:
        with path.open(encoding=encoding, newline="") as stream, target.open("w", encoding="utf-8", newline="") as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
    except UnicodeError:
        raise wrong_encoding(encoding) from None
    return target


def _parquet(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    pattern = str(path / "**" / "*.parquet") if path.is_dir() else str(path)
    # Folder names such as zip=00712 are texts, not numbers.
    return _described(connection, f"read_parquet({sql.text(pattern)}, hive_types_autocast=false)")


def _json(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    return _described(connection, f"read_json({sql.text(str(path))}, format='auto')")


def _duckdb(connection: Any, path: Path, data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    connection.execute(f"ATTACH {sql.text(str(path))} AS source (READ_ONLY)").fetchall()
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source'"
        ).fetchall()
    ]
    return _described(connection, f"source.{sql.name(_chosen(data.table, tables))}")


def _sqlite(connection: Any, path: Path, data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    try:
        import adbc_driver_sqlite.dbapi as driver
    except ImportError:
        raise missing_extra("adbc-driver-sqlite", "sqlite") from None
    with driver.connect(path.resolve().as_uri()) as database, database.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
        table = _chosen(data.table, [row[0] for row in cursor.fetchall()])
        cursor.execute(f"SELECT * FROM {sql.name(table)}")
        return _loaded(connection, cursor.fetch_record_batch())


def _excel(connection: Any, path: Path, data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    try:
        import python_calamine
    except ImportError:
        raise missing_extra("python-calamine", "excel") from None
    from sfumato.engines.texts import as_text

    book = python_calamine.CalamineWorkbook.from_path(str(path))
    sheet = book.get_sheet_by_name(_chosen(data.table, book.sheet_names, first=True))
    cells = sheet.to_python()
    if not cells:
        raise DataError("the sheet is empty.", "It needs a header and rows.", "empty")
    columns = tuple(str(name) for name in cells[0])
    _check_columns(columns, len(cells[0]), True)
    texts = {
        name: np.array([_cell(row[place], as_text) for row in cells[1:]], object) for place, name in enumerate(columns)
    }
    return _loaded(connection, texts)


def _cell(value: Any, as_text: Callable[[Any], str | None]) -> str | None:
    """A cell's text: a whole number has no decimals, an empty cell is missing."""
    if value == "" or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return as_text(value)


def _chosen(wanted: str | None, tables: Sequence[str], first: bool = False) -> str:
    from sfumato.errors import did_you_mean

    if wanted is None and (len(tables) == 1 or (first and tables)):
        return tables[0]
    if wanted is None:
        raise PlanError(f"data.table: the source has {len(tables)} tables.", f"Name one: {', '.join(tables)}.", "table")
    if wanted not in tables:
        raise PlanError(f'data.table: there is no "{wanted}".', did_you_mean(wanted, tables), "table")
    return wanted


def _loaded(connection: Any, rows: Any) -> Source:
    connection.register("loaded_rows", rows)
    connection.execute("CREATE TEMP TABLE source_rows AS SELECT * FROM loaded_rows").fetchall()
    connection.unregister("loaded_rows")
    return _described(connection, "source_rows")


def _described(connection: Any, table: str) -> Source:
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    return Source(_with_one_zero(table, described), tuple(row[0] for row in described))


def _with_one_zero(table: str, described: Sequence[tuple[Any, ...]]) -> str:
    """The table with -0.0 read as 0.0: the two are equal, so they must not be published as different texts."""
    floats = [(sql.name(row[0]), row[1]) for row in described if row[1] in ("DOUBLE", "FLOAT")]
    if not floats:
        return table
    added = sql.listed(f"CAST({name} + CAST(0 AS {kind}) AS {kind}) AS {name}" for name, kind in floats)
    return f"(SELECT * REPLACE ({added}) FROM {table})"
