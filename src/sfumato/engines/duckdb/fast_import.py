"""The compiled part of DuckDB, which loads in a third of the time of its Python layer."""

from importlib import import_module
from typing import Any


def compiled() -> Any:
    """Connections, statements and errors; `relations` hand rows over as frames, `register` takes in Arrow."""
    try:
        return import_module("_duckdb")
    except ImportError:
        return import_module("duckdb")


def relations(connection: Any, statement: str) -> Any:
    """The rows of a statement, for whoever wants them as a frame or a stream: that is what the Python layer adds."""
    import_module("duckdb")
    return connection.sql(statement)


def register(connection: Any, name: str, rows: Any) -> None:
    """Let rows be read as a table: arrays by name, or a stream of Arrow batches, which the Python layer knows alone."""
    if not isinstance(rows, dict):
        import_module("duckdb")
    connection.register(name, rows)
