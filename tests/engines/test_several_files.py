"""Several files are one table only when their columns agree: else a value would be published in the wrong column."""

from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.errors import DataError
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.release import anonymize

PLAN = {
    "version": 1,
    "columns": {
        "name": {"role": "identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "note": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}
FIRST = "name,zip,note\nAnna,1,n\nBert,1,n\n"
OTHERS = {
    "another order": "note,zip,name\nn,1,Carol\nn,1,Dave\n",
    "another name": "name,zip,remark\nCarol,1,n\nDave,1,n\n",
    "one column more": "name,zip,note,born\nCarol,1,n,x\nDave,1,n,x\n",
    "another separator": "name;zip;note\nCarol;1;n\nDave;1;n\n",
    "nothing": "",
}


def written(folder: Path, second: str) -> Path:
    folder.mkdir()
    (folder / "a.csv").write_text(FIRST, encoding="utf-8")
    (folder / "b.csv").write_text(second, encoding="utf-8")
    return folder


def rows_of(path: Path) -> Counter:
    table = f"read_csv('{path}', header=true, all_varchar=true)"
    return Counter(duckdb.execute(f"SELECT * FROM {table}").fetchall())


@pytest.mark.parametrize("pattern", ["", "*.csv"])
@pytest.mark.parametrize("case", OTHERS)
def test_a_file_with_another_header_is_refused_by_name(tmp_path, case, pattern) -> None:
    folder = written(tmp_path / "rows", OTHERS[case])
    with pytest.raises(DataError, match=r"b\.csv") as caught:
        anonymize(folder / pattern, PLAN)
    assert caught.value.status.exit == 3
    assert "Carol" not in str(caught.value)


@pytest.mark.parametrize("pattern", ["", "*.csv"])
def test_files_with_the_same_header_are_one_table(tmp_path, pattern) -> None:
    folder = written(tmp_path / "rows", "name,zip,note\nCarol,1,m\n")
    (folder / "_SUCCESS").write_text("", encoding="utf-8")
    release = anonymize(folder / pattern, PLAN)
    assert rows_of(release.data) == {("*", "1", "n"): 2, ("*", "1", "m"): 1}
    release.close()


def test_files_in_an_encoding_that_is_rewritten(tmp_path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "a.csv").write_text("a\nä\n", encoding="cp1252")
    (folder / "b.csv").write_text("a\nß\n", encoding="cp1252")
    engine = DuckDBEngine(folder, DataPlan(encoding="cp1252"))
    assert set(engine.count(["a"], MissingRules()).values[0]) == {"ä", "ß"}
    engine.close()


def test_signs_of_patterns_in_a_name_are_no_pattern(tmp_path) -> None:
    (tmp_path / "a[1].csv").write_text("a\nright\n", encoding="utf-8")
    (tmp_path / "a1.csv").write_text("a\nwrong\n", encoding="utf-8")
    engine = DuckDBEngine(tmp_path / "a[1].csv")
    assert engine.count(["a"], MissingRules()).values == (("right",),)
    engine.close()


def parquet(folder: Path, *tables: dict) -> Path:
    folder.mkdir()
    for place, columns in enumerate(tables):
        pq.write_table(pa.table(columns), folder / f"{place}.parquet")
    return folder


def test_parquet_files_go_by_name(tmp_path) -> None:
    folder = parquet(tmp_path / "rows", {"a": ["x"], "b": ["y"]}, {"b": ["v"], "a": ["u"]})
    engine = DuckDBEngine(folder)
    assert [sorted(values) for values in engine.count(["a", "b"], MissingRules()).values] == [["u", "x"], ["v", "y"]]
    engine.close()


@pytest.mark.parametrize(
    "second",
    [{"a": ["u"]}, {"a": ["u"], "b": [1.5], "c": [1]}, {"a": ["u"], "b": [1.5]}],
    ids=["one column fewer", "one column more", "another type"],
)
def test_parquet_files_with_other_columns_are_refused(tmp_path, second) -> None:
    folder = parquet(tmp_path / "rows", {"a": ["x"], "b": [1]}, second)
    with pytest.raises(DataError, match=r"1\.parquet"):
        DuckDBEngine(folder)


def test_json_records_go_by_name_in_all_files(tmp_path) -> None:
    for place in range(40):  # more than the engine looks at by itself
        record = '{"b": "v", "a": "u"}' if place % 2 else '{"a": "x", "b": "y"}'
        (tmp_path / f"{place:02}.jsonl").write_text(record, encoding="utf-8")
    (tmp_path / "99.jsonl").write_text('{"a": "x", "late": 1}', encoding="utf-8")
    engine = DuckDBEngine(tmp_path)
    assert engine.columns == ("a", "b", "late")
    assert set(engine.count(["a"], MissingRules()).values[0]) == {"u", "x"}
    assert set(engine.count(["b"], MissingRules()).values[0]) == {"v", "y", None}
    engine.close()


def test_spark_refuses_them_too(tmp_path, spark) -> None:
    from sfumato.engines.spark.engine import SparkEngine

    folder = written(tmp_path / "rows", OTHERS["another order"])
    for path in (folder, folder / "*.csv"):
        with pytest.raises(DataError, match=r"b\.csv"):
            SparkEngine.of_path(path, DataPlan(format="csv"))
    several = parquet(tmp_path / "more", {"a": ["x"], "b": ["y"]}, {"b": ["v"], "a": ["u"], "name": ["Carol"]})
    engine = SparkEngine.of_path(several)
    assert engine.columns == ("a", "b", "name")
    assert set(engine.count(["a"], MissingRules()).values[0]) == {"u", "x"}
