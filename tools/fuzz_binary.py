"""Binary files for tools/fuzz.py to damage: surveys, compressed files, columns and databases."""

import gzip
import io
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.survey_files import SurveyLabels, book_of, write_survey
from sfumato.errors import SfumatoError

Target = Callable[[bytes, Path], object]
COLUMNS: dict[str, list[str | None]] = {"sex": ["1", "2", "1"], "name": ["Ada", "Grace Hopper", None]}
LABELS = SurveyLabels({"sex": "Sex"}, {"sex": {"1": "female", "2": "male"}})


def read_rows(name: str, content: bytes, folder: Path) -> None:
    """Read the rows of a file, and its information about columns."""
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    with suppress(SfumatoError):
        engine = DuckDBEngine(path)
        try:
            engine.frame()
        finally:
            engine.close()
    with suppress(SfumatoError):
        book_of(path)


def _survey(ending: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{ending}"
        write_survey(COLUMNS, LABELS, path)
        return path.read_bytes()


def _parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), stream, compression="zstd")
    return stream.getvalue()


def _sqlite() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("CREATE TABLE rows (sex TEXT, name TEXT)")
        database.executemany("INSERT INTO rows VALUES (?, ?)", zip(*COLUMNS.values(), strict=True))
        return database.serialize()


BINARY: dict[str, tuple[Target, bytes]] = {
    "spss": (partial(read_rows, "t.sav"), _survey(".sav")),
    "packed spss": (partial(read_rows, "t.zsav"), _survey(".zsav")),
    "stata": (partial(read_rows, "t.dta"), _survey(".dta")),
    "packed rows": (partial(read_rows, "t.csv.gz"), gzip.compress(b"sex,name\n1,Ada\n2,Grace\n", mtime=0)),
    "parquet": (partial(read_rows, "t.parquet"), _parquet()),
    "sqlite": (partial(read_rows, "t.sqlite"), _sqlite()),
    "records": (partial(read_rows, "t.jsonl"), b'{"sex": 1, "name": "Ada"}\n{"sex": 2, "name": "Grace"}\n'),
}
