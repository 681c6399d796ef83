"""DuckDB as commands need it: its compiled part, which loads in a third of the time that its Python layer takes."""

from importlib import import_module
from typing import Any


def compiled() -> Any:
    """Connections, statements and errors; relations, which hand rows over as frames, come with `relations`."""
    try:
        return import_module("_duckdb")
    except ImportError:
        return import_module("duckdb")


def relations(connection: Any, statement: str) -> Any:
    """The rows of a statement, for whoever wants them as a frame or a stream: that is what the Python layer adds."""
    import_module("duckdb")
    return connection.sql(statement)
