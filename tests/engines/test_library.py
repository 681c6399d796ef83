"""Rows are counted by DuckDB's compiled part alone; its Python layer comes where rows leave as a frame."""

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Reading
engine = DuckDBEngine(Path(sys.argv[1]))
print(engine.count(("a", "b"), Reading()).rows, "duckdb" in sys.modules)
print(len(engine.frame()), "duckdb" in sys.modules)
engine.close()
"""


def test_the_python_layer_loads_when_it_is_needed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n1,3\n", encoding="utf-8")
    made = subprocess.run([sys.executable, "-c", CODE, str(path)], check=True, capture_output=True, text=True)
    assert made.stdout.split() == ["2", "False", "2", "True"]
