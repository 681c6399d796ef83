"""Rows are counted by DuckDB's compiled part alone; its Python layer comes where rows leave as a frame."""

import subprocess
import sys

import pytest

CODE = """
import sys
from pathlib import Path
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
engine = DuckDBEngine(Path(sys.argv[1]))
print(engine.count(("a", "b"), MissingRules()).rows, "duckdb" in sys.modules)
print(len(engine.frame()), "duckdb" in sys.modules)
engine.close()
"""


SQLITE = """
import sqlite3, sys
from pathlib import Path
with sqlite3.connect(sys.argv[1]) as base:
    base.execute("create table t (a, b)")
    base.execute("insert into t values ('1', 'x'), ('2', 'y')")
base.close()
from sfumato.engines.duckdb.engine import DuckDBEngine
print(DuckDBEngine(Path(sys.argv[1])).first_rows(1))
"""


def test_arrow_streams_are_read_in_a_process_that_has_read_nothing_else(tmp_path):
    """Only DuckDB's Python layer knows Arrow; other tests have loaded it before."""
    pytest.importorskip("adbc_driver_sqlite")
    command = [sys.executable, "-c", SQLITE, str(tmp_path / "rows.sqlite")]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    assert made.stdout.strip() == str([{"a": "1", "b": "x"}])


def test_the_python_layer_loads_when_it_is_needed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n1,3\n", encoding="utf-8")
    made = subprocess.run([sys.executable, "-c", CODE, str(path)], check=True, capture_output=True, text=True)
    assert made.stdout.split() == ["2", "False", "2", "True"]
