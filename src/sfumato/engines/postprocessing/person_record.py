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
    """The keys of the rows of a published file, whose record lies beside it."""
    with closing(DuckDBEngine(data, DataPlan(header=True))) as engine:
        engine.attach_persons(data.with_name(PERSONS_FILE))
        return recorded(engine.texts(PERSON))


def write_record(data: Path, keys: Sequence[str | None]) -> None:
    """Put other keys into the record beside a published file; the record appears when it is whole."""
    record = data.with_name(PERSONS_FILE)
    stage = record.with_suffix(".new")
    with closing(DuckDBEngine(data, DataPlan(header=True), opens=[stage])) as engine, engine.faults():
        engine._load("record", {PERSON: np.array(keys, object)})
        engine._run(f"COPY (SELECT {PERSON} FROM record) TO {sql.text(str(stage))} (FORMAT parquet)")
    stage.replace(record)
