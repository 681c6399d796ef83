"""The first rows of a file, for people to look at."""

from sfumato.engines import sql
from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.statements import as_text

Row = dict[str, str | None]


def first_rows(engine: DuckDBEngine, limit: int) -> list[Row]:
    """So many rows from the top, as texts; None is the missing value."""
    texts = sql.listed(as_text(column, engine.plan.strip) for column in engine.columns)
    with engine.faults():
        rows = engine._run(f"SELECT {texts} FROM {engine.source.table} AS s LIMIT {int(limit)}")
    return [dict(zip(engine.columns, row, strict=True)) for row in rows]
