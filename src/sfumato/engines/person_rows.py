"""Rows of persons: exclude those of some in the source, and keep an internal record of a key for each published row."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.expressions import as_text, plain_key_of
from sfumato.engines.engine import Engine
from sfumato.engines.join_keys import PERSON, PERSONS_FILE, recorded
from sfumato.errors import EngineError
from sfumato.hierarchies.spellings import plain_key
from sfumato.microdata.data_plan import DataPlan


def without(engine: Engine, column: str, texts: list[str]) -> Engine:
    """Return an engine without the rows of some persons; the original engine remains open.

    Args:
        column: The person column.
        texts: The normalized keys of these persons.

    Raises:
        EngineError: The engine does not support this.
    """
    if not texts:
        return engine
    if isinstance(engine, DuckDBEngine):
        return _of_files(engine, column, texts)
    if engine.name == "frames":
        return _of_frame(engine, column, texts)
    raise EngineError("previous", name=engine.name)


def _of_files(engine: DuckDBEngine, column: str, texts: list[str]) -> DuckDBEngine:
    target = engine._database.folder / "placed.parquet"
    engine._load("withheld_persons", {"t": _array(texts)})
    rows = (
        f"SELECT s.* FROM {engine.source.table} AS s "
        f"WHERE {plain_key_of(as_text(column, engine.plan.strip))} NOT IN (SELECT t FROM withheld_persons)"
    )
    with engine.faults():
        engine._run(f"COPY ({rows}) TO {sql.text(str(target))} (FORMAT parquet)")
    plan = engine.plan
    reading = DataPlan(strip=plan.strip, memory_limit=plan.memory_limit, temp_folder=plan.temp_folder)
    placed = DuckDBEngine(target, reading, partition=engine.partition, opens=engine.opens)
    # Written files use the separator of the original CSV file, and its columns without texts remain removed.
    placed.source = _like(placed.source, engine.source)
    return placed


def _array(texts: list[str]) -> Any:
    import numpy as np

    return np.array(texts, object)


def _like(source: Any, first: Any) -> Any:
    from sfumato.values import replace

    return replace(source, separator=first.separator, columns=first.columns, textless=first.textless)


def _of_frame(engine: Any, column: str, texts: list[str]) -> Engine:
    import narwhals as nw

    from sfumato.engines.opening import open_frame

    left_out = {*texts}
    kept = [text is None or plain_key(text) not in left_out for text in engine.texts(column)]
    frame = nw.from_native(engine.data(), eager_only=True)
    return open_frame(frame.filter(kept).to_native(), engine.notes)


def record_of(data: Path) -> list[str | None]:
    """Return the person keys of a published file's rows, from the record next to it."""
    with closing(DuckDBEngine(data, DataPlan(header=True))) as engine:
        engine.attach_persons(data.with_name(PERSONS_FILE))
        return recorded(engine.texts(PERSON))


def write_record(data: Path, keys: Sequence[str | None]) -> None:
    """Replace the record next to a published file atomically."""
    record = data.with_name(PERSONS_FILE)
    stage = record.with_suffix(".new")
    with closing(DuckDBEngine(data, DataPlan(header=True), opens=[stage])) as engine, engine.faults():
        engine._load("record", {PERSON: np.array(keys, object)})
        engine._run(f"COPY (SELECT {PERSON} FROM record) TO {sql.text(str(stage))} (FORMAT parquet)")
    stage.replace(record)
