"""Write files with DuckDB: published rows, codes, and rows again with other values in some columns."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.canonical_text import are_decimals, are_whole
from sfumato.engines.duckdb.database import compiled, connected
from sfumato.engines.duckdb.expressions import as_text
from sfumato.engines.duckdb.sources import ROW, Source
from sfumato.engines.join_keys import PERSON, PERSONS_FILE
from sfumato.errors import EngineError
from sfumato.formats import CSV, PARQUET, format_named

Cell = str | int | float | None
Chunk = Mapping[str, npt.NDArray[Any]]
_MAX_ENUMERATED = 256


def copy_statement(select: str, target: Path, separator: str, partition: Sequence[str] = ()) -> str:
    """Return the statement that writes a release, in the format of the file's extension."""
    copied = _copied(target)
    options = (format_named(copied) or CSV).writer("duckdb")(separator, partition)
    return f"COPY ({select}) TO {sql.text(str(copied))} ({options})"


def _copied(target: Path) -> Path:
    """Return the file that DuckDB writes: a Parquet file next to the target if it does not write its format."""
    form = format_named(target)
    return target if form is None or form.copied else target.with_name(target.name + PARQUET.suffix)


def finish_copy(target: Path) -> None:
    """Convert what DuckDB wrote to the target's format."""
    copied, form = _copied(target), format_named(target)
    if form is not None and copied != target:
        form.writer("duckdb")(copied, target)
        copied.unlink()


def csv_options(separator: str, _partition: Sequence[str]) -> str:
    return f"FORMAT csv, HEADER, DELIMITER {sql.text(separator)}, QUOTE '\"', ESCAPE '\"', NULLSTR ''"


def parquet_options(_separator: str, partition: Sequence[str]) -> str:
    by = sql.listed(map(sql.name, partition))
    return "FORMAT parquet, COMPRESSION zstd" + (f", PARTITION_BY ({by})" if by else "")


def keys_statement(select: str, target: Path) -> str:
    """Return the statement that writes person keys, uncompressed because they are random texts."""
    return f"COPY ({select}) TO {sql.text(str(target))} (FORMAT parquet, COMPRESSION uncompressed)"


def asked(connection: Any, arrays: dict[str, Any], statement: str) -> Any:
    """Return the result of a query on arrays, which are the table `given`."""
    connection.register("given", arrays)
    try:
        return connection.execute(statement).fetchnumpy()
    finally:
        connection.unregister("given")


def write_coded(
    categories: Mapping[str, Sequence[Cell]],
    chunks: Iterable[Chunk],
    path: Path,
    format_: Literal["csv", "parquet"],
    separator: str,
) -> None:
    """Write columns, given as codes of their categories, in order; the file is replaced atomically.

    Codes that do not fit into memory are spilled to disk.

    Raises:
        EngineError: The file cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with connected(path.parent) as connection:
            _collect(connection, categories, chunks)
            connection.execute(_copy(categories, part, format_, separator)).fetchall()
        part.replace(path)
    except (OSError, compiled().IOException):
        raise EngineError("unwritable.file", name=path.name) from None
    finally:
        part.unlink(missing_ok=True)


def _collect(connection: Any, categories: Mapping[str, Sequence[Cell]], chunks: Iterable[Chunk]) -> None:
    columns = ", ".join(f"c{place} {_code_type(values)}" for place, values in enumerate(categories.values()))
    connection.execute(f"CREATE TEMP TABLE codes ({columns})").fetchall()
    for chunk in chunks:
        arrays = {f"c{place}": np.ascontiguousarray(chunk[name]) for place, name in enumerate(categories)}
        connection.register("chunk", arrays)
        connection.execute("INSERT INTO codes SELECT * FROM chunk").fetchall()
        connection.unregister("chunk")


def _copy(categories: Mapping[str, Sequence[Cell]], part: Path, format_: str, separator: str) -> str:
    value = _enumerated if format_ == PARQUET.name else _value
    columns = ", ".join(
        f"{value(values, f'c{place}')} AS {sql.name(name)}" for place, (name, values) in enumerate(categories.items())
    )
    options = "FORMAT parquet" if format_ == PARQUET.name else f"FORMAT csv, HEADER, DELIMITER {sql.text(separator)}"
    return f"COPY (SELECT {columns} FROM codes) TO {sql.text(str(part))} ({options})"


def _value(values: Sequence[Cell], code: str) -> str:
    if isinstance(values, range):
        return f"({values.start} + {code}::BIGINT)"
    literals = ", ".join(_literal(value) for value in values)
    return f"([{literals}]::{_value_type(values)}[])[{code}::INTEGER + 1]"


def _enumerated(values: Sequence[Cell], code: str) -> str:
    """Return the value of a code; few texts are an enumeration, which Parquet stores as text in half the time."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values) or len(texts) > _MAX_ENUMERATED:
        return _value(values, code)
    return f"{_value(values, code)}::ENUM ({', '.join(sql.text(value) for value in texts)})"


def _code_type(values: Sequence[Cell]) -> str:
    return "UTINYINT" if len(values) <= 2**8 else "USMALLINT" if len(values) <= 2**16 else "UINTEGER"


def _value_type(values: Sequence[Cell]) -> str:
    kinds = {type(value) for value in values if value is not None}
    return "BIGINT" if kinds == {int} else "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"


def _literal(value: Cell) -> str:
    return "NULL" if value is None else sql.text(value) if isinstance(value, str) else repr(value)


# Types whose replaced values remain numbers; those in WHOLE remain integers.
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
NUMBERS = (*WHOLE, "FLOAT", "DOUBLE", "DECIMAL")


def replacing(
    source: Source, kinds: Mapping[str, str], columns: Mapping[str, Sequence[str | None]], target: Path
) -> str:
    """Return the statement that writes rows with texts of the table `replacing` (place, r0, r1, …) in some columns."""
    values = []
    for column in source.columns:
        value = f"s.{sql.name(column)}"
        if column in columns:
            value = f"r.r{[*columns].index(column)}"
            kind = kinds.get(column, "").lstrip("U")
            if kind.startswith(NUMBERS):
                value = f"CAST({value} AS {_kind_of(kind, columns[column])})"
        values.append(f"{value} AS {sql.name(column)}")
    rows = f"{source.with_numbers} AS s JOIN replacing AS r ON r.place = s.{ROW}"
    select = f"SELECT {sql.listed(values)} FROM {rows} ORDER BY s.{ROW}"
    return copy_statement(select, target, source.separator)


def _kind_of(kind: str, texts: Sequence[str | None]) -> str:
    """Return the type of a numeric column after replacement: the same if all values fit, otherwise the widest."""
    if kind.startswith(WHOLE):
        return "BIGINT" if are_whole(texts) else "DOUBLE"
    if kind.startswith("DECIMAL("):
        precision, scale = (int(part) for part in kind[len("DECIMAL(") : -1].split(","))
        return kind if are_decimals(texts, precision, scale) else "DOUBLE"
    return "DOUBLE"


class ReplacesColumns:
    """Methods of the embedded engine that read columns of published rows and replace them."""

    def texts(self: Any, column: str) -> Sequence[str | None]:
        """Return a column of the rows as texts."""
        table = self._person_rows if column == PERSON else self.source.table
        with self.faults(reads=True):
            arrays = self._connection.execute(f"SELECT {as_text(column)} AS t FROM {table} AS s").fetchnumpy()
        values: list[str | None] = arrays["t"].tolist()  # None if a text is missing
        return values

    def floats(self: Any, column: str) -> npt.NDArray[np.float64] | None:
        """Return the numbers of a double-precision column, else None."""
        if column == PERSON or self._kinds().get(column) != "DOUBLE":
            return None
        with self.faults(reads=True):
            arrays = self._connection.execute(f"SELECT {sql.name(column)} AS n FROM {self.source.table}").fetchnumpy()
        return np.ma.filled(arrays["n"], np.nan)

    def replaced(self: Any, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> Any:
        """Write the same rows with other texts in some columns."""
        if target is None:
            raise EngineError("no-target")
        arrays = {f"r{place}": np.array(texts, object) for place, texts in enumerate(columns.values())}
        with self.faults():
            rows = len(next(iter(arrays.values())))
            self._load("replacing", arrays | {"place": np.arange(1, rows + 1)})
            self._run(replacing(self.source, self._kinds(), columns, target))
            self._run("DROP TABLE replacing")
        finish_copy(target)
        published = type(self).of_published(target, self.columns, self.source.separator, self.plan)
        if self.person_column is not None:
            published.attach_persons(target.with_name(PERSONS_FILE))
        return published

    def _kinds(self: Any) -> dict[str, str]:
        """Return the DuckDB types of all columns."""
        return {str(row[0]): str(row[1]) for row in self._run(f"DESCRIBE SELECT * FROM {self.source.table}")}
