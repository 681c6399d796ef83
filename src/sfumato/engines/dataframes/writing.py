"""Write frames to files through DuckDB, so that the files equal those written from a file source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from sfumato.engines import sql
from sfumato.engines.dataframes.sources import SHORT_FLOATS
from sfumato.engines.duckdb.database import compiled, connected, explained
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.writing import copy_statement, finish_copy
from sfumato.engines.join_keys import PERSON


class Rows(Protocol):
    """The parts of a frame needed for writing."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def series(self, column: str) -> "nw.Series[Any]": ...

    def texts(self, column: str) -> list[str | None]: ...


def write_rows(rows: Rows, target: Path, separator: str) -> DuckDBEngine:
    """Write the rows of a frame to a CSV or Parquet file, and return an engine that reads the file.

    Raises:
        EngineError: The file cannot be written.
    """
    try:
        with connected(target.parent) as connection:
            arrays = {f"c{place}": _array(rows, column) for place, column in enumerate(rows.columns)}
            connection.register("frame_rows", arrays)
            names = sql.listed(f"c{place} AS {sql.name(column)}" for place, column in enumerate(rows.columns))
            connection.execute(copy_statement(f"SELECT {names} FROM frame_rows", target, separator)).fetchall()
        finish_copy(target)
    except compiled().Error as error:
        raise explained(error, "utf-8") from None
    return DuckDBEngine.of_published(target, rows.columns, separator)


def write_keys(keys: Sequence[str], target: Path) -> None:
    """Write the person keys of the rows to a Parquet file."""
    with connected(target.parent) as connection:
        connection.register("keys", {PERSON: np.array(keys, object)})
        connection.execute(copy_statement("SELECT * FROM keys", target, "")).fetchall()


def _array(rows: Rows, column: str) -> Any:
    """Return a column as an array: numbers unchanged, everything else as texts."""
    values = rows.series(column)
    kind = values.dtype
    if values.null_count() or not (kind.is_integer() or kind.is_float()):
        return np.array(rows.texts(column), object)
    if isinstance(kind, SHORT_FLOATS):
        return np.array(rows.texts(column), np.float64)
    return np.asarray(values.to_numpy())
