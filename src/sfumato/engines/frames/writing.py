"""Writing frames to files: through DuckDB, so that a frame's file looks like a file's file."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine, connect, explained
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.frames.engine import FrameEngine
from sfumato.engines.order import PERSON


def write_frame(engine: FrameEngine, target: Path, separator: str) -> DuckDBEngine:
    """Write the rows of a frame to a CSV or Parquet file; the answer reads the file.

    Raises:
        EngineError: The file cannot be written.
    """
    import duckdb

    connection = connect(target.parent)
    try:
        connection.register("frame_rows", _arrays(engine))
        names = sql.listed(f"c{place} AS {sql.name(column)}" for place, column in enumerate(engine.columns))
        connection.execute(copy_statement(f"SELECT {names} FROM frame_rows", target, separator)).fetchall()
    except duckdb.Error as error:
        raise explained(error, "utf-8") from None
    finally:
        connection.close()
    return DuckDBEngine.of_published(target, engine.columns, separator)


def write_keys(keys: Sequence[str], target: Path) -> None:
    """Write the keys of the rows' persons to a Parquet file."""
    with closing(connect(target.parent)) as connection:
        connection.register("keys", {PERSON: np.array(keys, object)})
        connection.execute(copy_statement("SELECT * FROM keys", target, "")).fetchall()


def _arrays(engine: FrameEngine) -> dict[str, Any]:
    """The columns as arrays: numbers as they are, everything else as texts."""
    return {f"c{place}": _array(engine, column) for place, column in enumerate(engine.columns)}


def _array(engine: FrameEngine, column: str) -> Any:
    values = engine.series(column)
    kind = values.dtype
    if values.null_count() or not (kind.is_integer() or kind.is_float()):
        return np.array(engine.texts(column), object)
    if isinstance(kind, nw.Float16 | nw.Float32):
        return np.array(engine.texts(column), np.float64)
    return np.asarray(values.to_numpy())
