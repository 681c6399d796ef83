"""The first rows of a file, for people to look at."""

from sfumato.engines.duckdb.engine import DuckDBEngine

Row = dict[str, str | None]


def first_rows(engine: DuckDBEngine, limit: int) -> list[Row]:
    """So many rows from the top, by column, as texts; None is the missing value."""
    return [dict(zip(engine.columns, row, strict=True)) for row in engine.first(limit)]
