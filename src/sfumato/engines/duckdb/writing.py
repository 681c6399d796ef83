"""Write files with DuckDB, and long columns of codes with DuckDB and NumPy alone."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.duckdb.database import connected
from sfumato.engines.duckdb.fast_import import compiled
from sfumato.errors import EngineError

Cell = str | int | float | None
Chunk = Mapping[str, npt.NDArray[Any]]
_MAX_ENUMERATED = 256


def copy_statement(select: str, target: Path, separator: str, partition: Sequence[str] = ()) -> str:
    """Return the statement that writes a release, in the format of the file's extension."""
    if target.suffix == ".parquet":
        by = sql.listed(map(sql.name, partition))
        form = "FORMAT parquet, COMPRESSION zstd" + (f", PARTITION_BY ({by})" if by else "")
    else:
        form = f"FORMAT csv, HEADER, DELIMITER {sql.text(separator)}, QUOTE '\"', ESCAPE '\"', NULLSTR ''"
    return f"COPY ({select}) TO {sql.text(str(target))} ({form})"


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
        raise EngineError("unwritable.the_file_cannot_be", name=path.name) from None
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
    value = _enumerated if format_ == "parquet" else _value
    columns = ", ".join(
        f"{value(values, f'c{place}')} AS {sql.name(name)}" for place, (name, values) in enumerate(categories.items())
    )
    options = "FORMAT parquet" if format_ == "parquet" else f"FORMAT csv, HEADER, DELIMITER {sql.text(separator)}"
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
