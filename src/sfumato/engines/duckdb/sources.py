"""Sources: every supported location of rows as a table expression that DuckDB reads; nothing is downloaded."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.delimited.dialect import COMMA_NUMBER, DecimalMark, damaged, empty, encoding_of, title_line
from sfumato.delimited.header import SAMPLED_RECORDS, header_of, is_title_row
from sfumato.delimited.opening import open_text
from sfumato.engines import sql
from sfumato.engines.canonical_text import as_text, no_text
from sfumato.engines.duckdb.database import register
from sfumato.engines.duckdb.value_expressions import textless_in, with_one_text, without_codes
from sfumato.engines.files import Records, files_in, files_of, format_of, head_of, other_columns, records_in
from sfumato.engines.join_keys import PERSONS_FILE
from sfumato.engines.sql import check_names, table_named
from sfumato.errors import DataError, PlanError, extra_part
from sfumato.formats import CSV, DUCKDB_FILE, JSON, PARQUET, is_packed
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.values import Value, field, replace

# The column with the row number.
ROW = "sfumato_row"
# Parquet's name for the row index in a file.
PLACE = "file_row_number"
# Types of JSON values other than texts; everything else is read as the text in the file.
JSON_KINDS = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")
# Longer records need larger buffers than DuckDB's default, in bytes.
USUAL_BYTES, USUAL_BUFFER = 1_000_000, 32_000_000
# Encodings that DuckDB reads; files in others are rewritten as UTF-8 first.
NATIVE_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16"}


class Source(Value):
    """Rows that DuckDB can read.

    Attributes:
        table: The table expression.
        textless: Columns whose values have no text; they are not in the table and cannot be read.
        separator: The separator of a CSV file, also used for the release.
        numbered: The table with row numbers (from 1) in a column `sfumato_row`, if known without counting; else empty.
        notes: Notes on the columns for data users.
        sheet: The sheet of a workbook that is read.
        with_codes: If columns have codes that mean missing, the table including these; else empty.
        kinds: The types of the columns of that table.
        records: The records of text files, counted independently of DuckDB; else None.
    """

    table: str
    columns: tuple[str, ...]
    separator: str = ","
    numbered: str = ""
    notes: tuple[Message, ...] = ()
    textless: tuple[str, ...] = ()
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    with_codes: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    records: Records | None = None

    def table_for(self, column: str, data: DataPlan) -> str:
        """Return the table for a query about one column, which need not replace the codes of others."""
        own = {name: kind for name, kind in self.kinds.items() if name == column}
        return without_codes(self.with_codes, own, data) if self.with_codes else self.table

    @property
    def with_numbers(self) -> str:
        """The table with row numbers."""
        return self.numbered or f"(SELECT row_number() OVER () AS {ROW}, * FROM {self.table} AS s)"


def open_source(connection: Any, path: Path, data: DataPlan, names: Sequence[str], scratch: Path) -> Source:
    """Open the source for a file.

    Args:
        names: The column names of a CSV file without a header.
        scratch: A private folder for files with the lifetime of the engine.
    """
    files_of(path)
    source: Source = format_of(path, data).reader("duckdb")(connection, path, data, names, scratch)
    if not data.codes:
        return source
    kinds = dict(_kinds(connection, source.table))
    numbered = source.numbered and without_codes(source.numbered, kinds, data)
    table = without_codes(source.table, kinds, data)
    return replace(source, table=table, numbered=numbered, with_codes=source.table, kinds=kinds)


def opened_for(path: Path, data: DataPlan) -> tuple[Path, ...]:
    """Return the files that DuckDB opens for a source, including a possible record of person keys next to it.

    Raises:
        DataError: There is none.
    """
    files = files_of(path)
    if path.is_dir():
        return (path,)
    # The write-ahead log of a database is next to it.
    logs = [file.with_name(f"{file.name}.wal") for file in files] if format_of(path, data) is DUCKDB_FILE else []
    return (*files, *logs, path.with_name(PERSONS_FILE))


def read_csv(_connection: Any, path: Path, data: DataPlan, names: Sequence[str], scratch: Path) -> Source:
    files = files_in(path, CSV)
    head = head_of(files, data, names)
    readable, encoding = native(files, data, scratch)
    source = csv_source(readable, head.columns, head.separator, data.quote, encoding, head.lines)
    return replace(source, table=_with_points(source.table, head.columns, data.decimal), notes=head.notes)


def _with_points(table: str, columns: Sequence[str], decimal: DecimalMark) -> str:
    """Return the table with decimal points in numbers written with a comma."""
    if decimal == ".":
        return table
    pattern = sql.text(COMMA_NUMBER)
    values = sql.listed(
        f"CASE WHEN regexp_full_match(trim({name}), {pattern}) "
        f"THEN translate({name}, ',.', '.') ELSE {name} END AS {name}"
        for name in map(sql.name, columns)
    )
    return f"(SELECT {values} FROM {table})"


def read_parquet(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    files = files_in(path, PARQUET)
    # Columns are matched by name, but values of another type would be converted: 1.5 becomes 2.
    first = sorted(_kinds(connection, _parquet_table(files[:1])))
    for file in files[1:]:
        if sorted(_kinds(connection, _parquet_table([file]))) != first:
            raise other_columns(file, files[0])
    source = _described(connection, _parquet_table(files))
    if len(files) > 1 or any(name.lower() == PLACE for name in source.columns):
        return source
    numbered = f"(SELECT {PLACE} + 1 AS {ROW}, * EXCLUDE ({PLACE}) FROM {_parquet_table(files, f', {PLACE}=true')})"
    return replace(source, numbered=with_one_text(numbered, _kinds(connection, _parquet_table(files))))


def _parquet_table(files: Sequence[Path], further: str = "") -> str:
    # Folder names such as zip=00712 are texts, not numbers.
    return f"read_parquet({file_list(files)}, hive_types_autocast=false{further})"


def _kinds(connection: Any, table: str) -> list[tuple[str, str]]:
    """Return the name and type of each column of a table."""
    return [(row[0], row[1]) for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]


def read_json(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    """Open JSON files, whose records are all scanned; a text remains a text even if it looks like a date."""
    files = file_list(files_in(path, JSON))
    whole = f"sample_size=-1, maximum_sample_files={2**31 - 1}, union_by_name=true"
    table = f"read_json({files}, format='auto', {whole})"
    kinds = _kinds(connection, table)
    nested = [name for name, kind in kinds if kind.endswith("]") or kind.startswith(("STRUCT", "MAP"))]
    columns = tuple(name for name, _ in kinds)
    _check_any_text(columns, nested)
    narrowed = sql.listed(
        f"{sql.text(name)}: {sql.text(kind if kind in JSON_KINDS else 'VARCHAR')}"
        for name, kind in _narrowed(connection, table, kinds)
        if name not in nested
    )
    source = _described(connection, f"read_json({files}, format='auto', columns={{{narrowed}}})")
    return _beside(source, columns, nested)


def _narrowed(connection: Any, table: str, kinds: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the name and type of each column; 128-bit integers become 64-bit ones if all values fit."""
    wide = [name for name, kind in kinds if kind == "HUGEINT"]
    if not wide:
        return kinds
    fits = sql.listed(f"count({sql.name(name)}) = count(TRY_CAST({sql.name(name)} AS BIGINT))" for name in wide)
    fitting = dict(zip(wide, connection.execute(f"SELECT {fits} FROM {table}").fetchall()[0], strict=True))
    return [(name, "BIGINT" if fitting.get(name) else kind) for name, kind in kinds]


def read_duckdb(connection: Any, path: Path, data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    connection.execute(f"ATTACH {sql.text(str(path))} AS source (READ_ONLY)").fetchall()
    # Views are not followed, because they may read other files. A view may have the name of a table in another schema.
    found = "SELECT {kind}_name, schema_name FROM duckdb_{kind}s() WHERE database_name = 'source' AND NOT internal"
    order = "ORDER BY schema_name = 'main', schema_name"
    tables, views = (
        dict(connection.execute(f"{found.format(kind=kind)} {order}").fetchall()) for kind in ("table", "view")
    )
    if views and data.table not in tables and (data.table in views or not tables):
        raise PlanError("table.is_a_view", text=data.table or sql.listed(views))
    table = table_named(data.table, [*tables])
    return _described(connection, f"source.{sql.name(tables[table])}.{sql.name(table)}")


def read_sqlite(connection: Any, path: Path, data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    with extra_part("adbc-driver-sqlite", "sqlite"):
        import adbc_driver_sqlite.dbapi as driver
    try:
        with driver.connect(path.resolve().as_uri()) as database, database.cursor() as cursor:
            cursor.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
            table = table_named(data.table, [row[0] for row in cursor.fetchall()])
            values = _sqlite_values(cursor, table)
            texts = {column: value for column, value in values.items() if value}
            bytes_in = [column for column in values if column not in texts]
            _check_any_text(values, bytes_in)
            cursor.execute(f"SELECT {sql.listed(texts.values())} FROM {sql.name(table)}")
            return _beside(loaded(connection, cursor.fetch_record_batch()), values, bytes_in)
    except (driver.Error, UnicodeDecodeError):  # names of tables and columns that are no valid texts
        raise damaged(path) from None


def _sqlite_values(cursor: Any, table: str) -> dict[str, str]:
    """Return the expression for each column of a SQLite table; empty for bytes, and as text for mixed types."""
    cursor.execute(f"SELECT name FROM pragma_table_info({sql.text(table)})")
    columns = [row[0] for row in cursor.fetchall()]
    chosen = {}
    for column in columns:
        cursor.execute(f"SELECT DISTINCT typeof({sql.name(column)}) FROM {sql.name(table)}")
        kinds = {row[0] for row in cursor.fetchall()} - {"null"}
        read = sql.name(column) if len(kinds) < 2 else f"CAST({sql.name(column)} AS TEXT) AS {sql.name(column)}"
        chosen[column] = "" if "blob" in kinds else read
    return chosen


def read_workbook(connection: Any, path: Path, data: DataPlan, names: Sequence[str], _scratch: Path) -> Source:
    from sfumato.engines.workbooks.archive import check_merged
    from sfumato.engines.workbooks.sheets import read_sheet, take_marks, told_of_others

    sheet = read_sheet(path, data.table)
    cells, start = sheet.cells, sheet.start
    if not cells:
        raise empty(path.name)
    others = (told_of_others(sheet),) if data.table is None and len(sheet.all) > 1 else ()
    try:
        marked = take_marks(path, sheet.name, start, cells)
        first = [str(_whole(name)) for name in cells[0]]
        sample = [[str(_whole(value)) for value in row] for row in cells[1:SAMPLED_RECORDS]]
        if data.header is not False and is_title_row(first, sample):
            raise title_line(path.name)
        check_merged((*sheet.merged, *marked.merged), start, cells, data.header is not False)
        columns, notes = header_of(first, sample, data.dialect, names)
        check_names(columns)
    except DataError as error:
        error.hint = Message("sentences", parts=(error.hint, *others))
        raise
    rows = cells if data.header is False else cells[1:]
    texts = {name: _cells(name, [row[place] for row in rows]) for place, name in enumerate(columns)}
    return replace(
        loaded(connection, texts), notes=(*others, *marked.notes, *notes), sheet=sheet.name, sheets=sheet.all
    )


def read_survey_file(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    from sfumato.engines.survey_files import read_survey

    survey = read_survey(path)
    return loaded(connection, {name: np.array(texts, object) for name, texts in survey.columns.items()})


def _cells(name: str, values: Sequence[Any]) -> Any:
    """Return the texts of a column: integers have no decimals, empty cells are missing."""
    try:
        return np.array([None if value == "" else as_text(_whole(value)) for value in values], object)
    except TypeError:
        raise no_text(name) from None


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def loaded(connection: Any, rows: Any) -> Source:
    """Return the source of rows that are read into the database: arrays by name, or rows of Arrow."""
    register(connection, "loaded_rows", rows)
    connection.execute("CREATE TEMP TABLE source_rows AS SELECT * FROM loaded_rows").fetchall()
    connection.unregister("loaded_rows")
    return _described(connection, "source_rows")


def _described(connection: Any, table: str) -> Source:
    described = _kinds(connection, table)
    columns, textless = tuple(name for name, _ in described), textless_in(described)
    check_names(columns)
    _check_any_text(columns, textless)
    return Source(with_one_text(table, described), columns, textless=textless)


def _check_any_text(columns: Iterable[str], textless: Sequence[str]) -> None:
    """Refuse a table without any readable column."""
    if textless and not {*columns} - {*textless}:
        raise no_text(*textless)


def _beside(source: Source, columns: Iterable[str], textless: Sequence[str]) -> Source:
    """Return the source including columns that were not read because they have no text."""
    names = tuple(columns)
    check_names(names)
    return replace(source, columns=names, textless=(*source.textless, *textless))


def csv_source(
    files: Sequence[Path],
    columns: Sequence[str],
    separator: str,
    quote: str = '"',
    encoding: str = "utf-8",
    header: int = 1,
    published: bool = False,
) -> Source:
    """Return the source for CSV files, with every value as text.

    Args:
        header: The number of header lines.
        published: Whether Sfumato wrote the file, so that an empty quoted field is an empty text, not missing.
    """
    records = records_in(files, separator, len(columns), quote, encoding, header)
    kinds = sql.listed(f"{sql.text(column)}: 'VARCHAR'" for column in columns)
    table = (
        f"read_csv({file_list(files)}, auto_detect=false, header={str(header > 0).lower()}, skip={max(header - 1, 0)}, "
        f"delim={sql.text(separator)}, quote={sql.text(quote)}, escape={sql.text(quote)}, nullstr='', "
        f"encoding={sql.text(encoding)}, {_buffers(records.longest)}"
        f"allow_quoted_nulls={str(not published).lower()}, strict_mode=true, null_padding=false, columns={{{kinds}}})"
    )
    return Source(table, tuple(columns), separator, records=records)


def _buffers(longest: int) -> str:
    """Return DuckDB's options for records longer than 2 MB: a limit, and in one thread a buffer for two of them."""
    if longest < USUAL_BYTES:
        return ""
    most = longest + 2  # including a line break
    return f"max_line_size={most}, buffer_size={max(2 * most, USUAL_BUFFER)}, parallel=false, "


def file_list(files: Sequence[Path]) -> str:
    """Return a list of files for DuckDB, with `*`, `?` and `[` in their names escaped."""
    return f"[{sql.listed(sql.text(escape(str(file))) for file in files)}]"


def native(files: Sequence[Path], data: DataPlan, scratch: Path) -> tuple[Sequence[Path], str]:
    """Return the files and their encoding, converted to one that DuckDB reads if necessary."""
    encoding = encoding_of(data.encoding)
    if encoding in NATIVE_ENCODINGS:
        return files, NATIVE_ENCODINGS[encoding]
    # Errors name the file that is read, so each copy has the name of its original.
    names = [file.stem if is_packed(file) else file.name for file in files]
    copies = [scratch / f"source{place}" / name for place, name in enumerate(names)]
    for file, copy in zip(files, copies, strict=True):
        copy.parent.mkdir(exist_ok=True)
        _rewrite(file, copy, data.encoding)
    return copies, "utf-8"


def _rewrite(path: Path, target: Path, encoding: str) -> None:
    with open_text(path, encoding) as stream, target.open("w", encoding="utf-8", newline="") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
