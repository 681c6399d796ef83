"""The internal record of persons: a key for each published row, in the order of the rows."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.keyed_hashes import PERSON, PERSONS_FILE, recorded
from sfumato.microdata.data_plan import DataPlan


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
