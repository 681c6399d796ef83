"""A small plain file is counted without a database, and as the database counts it; other files are left to it."""

import subprocess
import sys
from contextlib import closing

import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.engines.small_csv import plain_file
from sfumato.microdata.data_plan import DataPlan

PLAIN = {
    "commas": "a,b,c\n1,x,\n1,x,\n2,,Zürich\n",
    "semicolons without an end": "a;b\n007;1,5\nü ; *",
    "ends of Windows": "a,b\r\n1,2\r\n,2\r\n",
    "tabs": "a\tb\nx y\t\n\t\n",
    "words for missing": "a,b\nNA,1\n?,2\nNA,1\n",
    "spaces are values": "a,b\n x,x \nx,x\n",
    "signs of other tools": "a,b\n'x',\\N\n#1,`2`\n\u2028,\u00a0\n",
}
OTHERS = {
    "quotes": 'a,b\n"1",2\n',
    "ends of both kinds": "a,b\r\n1,2\n",
    "ends of old machines": "a,b\r1,2\r",
    "a mark of order": "\ufeffa,b\n1,2\n",
    "a line too short": "a,b\n1,2\n1\n",
    "an empty line": "a,b\n1,2\n\n3,4\n",
    "no rows": "a,b\n",
    "one column": "a\n1\n2\n",
    "a zero": "a,b\n1,\0\n",
}


def _tallied(text_counts):
    rows = zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True)
    return {tuple(v[c] for v, c in zip(text_counts.values, codes, strict=True)): n for codes, n in rows}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("reading", [MissingRules(), MissingRules(("NA", "?"), ("a",))], ids=["all rows", "a required"])
def test_it_is_counted_as_the_database_counts_it(tmp_path, text, reading):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    plain = plain_file(path, DataPlan())
    assert plain is not None
    with closing(DuckDBEngine(path)) as engine:
        assert (plain.columns, plain.separator) == (engine.columns, engine.source.separator)
        for columns in (engine.columns, engine.columns[::-1], engine.columns[:1]):
            here, there = plain.count(columns, reading), engine.count(columns, reading)
            assert _tallied(here) == _tallied(there)
            assert (here.columns, here.values, here.rows) == (there.columns, there.values, there.rows)
            assert here.codes.dtype == there.codes.dtype and here.counts.dtype == there.counts.dtype


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_can_be_read_in_several_ways_is_left_to_the_database(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert plain_file(path, DataPlan()) is None


@pytest.mark.parametrize("asked", [{"header": False}, {"decimal": ",", "separator": ";"}, {"encoding": "latin-1"}])
def test_what_is_asked_for_besides_is_left_to_the_database(tmp_path, asked):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n1;2\n", encoding="utf-8")
    assert plain_file(path, DataPlan()) is not None
    assert plain_file(path, DataPlan(**asked)) is None


def test_other_bytes_and_large_files_are_left_to_the_database(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\nü,2\n".encode("latin-1"))
    assert plain_file(path, DataPlan()) is None
    path.write_text("a,b\n" + "1,2\n" * (1 << 18), encoding="utf-8")
    assert plain_file(path, DataPlan()) is None


def test_a_plan_is_suggested_without_loading_the_database(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age,sex,illness\n" + "30,m,flu\n40,f,gout\n50,m,flu\n" * 20, encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from sfumato.pipelines.suggest import suggest_for_file; "
        "suggest_for_file(Path(sys.argv[1])); "
        "print([name for name in ('_duckdb', 'numpy.random') if name in sys.modules])"
    )
    made = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert made.stdout.strip() == "[]"
