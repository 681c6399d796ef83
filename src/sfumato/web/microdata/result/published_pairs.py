"""Read original rows with their published versions, in a worker process without the page library."""

from contextlib import closing
from pathlib import Path
from typing import Any

from sfumato.engines.duckdb.engine import DuckDBEngine, Row
from sfumato.microdata.data_plan import DataPlan
from sfumato.web.microdata.result.result_figures import published_rows, recoding_of

RowPair = tuple[Row, Row | None]


def published_pairs(
    path: Path, read: DataPlan, folder: Path, plan: dict[str, Any], limit: int
) -> tuple[list[RowPair], bool]:
    """Return the first rows of a file with their published values, and whether equal rows were divided."""
    recoding = recoding_of(folder)
    return published_rows(recoding, first_rows(path, read, limit), plan), "division" in recoding


def first_rows(path: Path, read: DataPlan, limit: int) -> list[Row]:
    """Return the first rows of a file."""
    with closing(DuckDBEngine(path, read)) as engine:
        return engine.first_rows(limit)
