"""The compiled part of DuckDB, which loads in a third of the time of its Python layer."""

from importlib import import_module
from typing import Any


def compiled() -> Any:
    """Return the compiled module with connections, statements and errors, without frames and Arrow streams."""
    try:
        return import_module("_duckdb")
    except ImportError:
        return import_module("duckdb")


def relations(connection: Any, statement: str) -> Any:
    """Return the rows of a statement for conversion to a frame or stream, which needs the Python layer."""
    import_module("duckdb")
    return connection.sql(statement)


def register(connection: Any, name: str, rows: Any) -> None:
    """Make rows readable as a table: arrays by name, or a stream of Arrow batches, which needs the Python layer."""
    if not isinstance(rows, dict):
        import_module("duckdb")
    connection.register(name, rows)
