"""Damaged files, files of another format and odd names are faults of the data, told in words and by name."""

import gzip
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.engines.opening import open_engine
from sfumato.errors import DataError, PlanError, SfumatoError
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_file

SECRET = "Zwetschgenbaum"
ROWS = b"a,b\n1,x\n2,y\n" + b"".join(b"%d,z\n" % place for place in range(20_000))


def broken_parquet() -> bytes:
    """A file whose end is as it should be, and whose pages are not."""
    stream = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [f"{SECRET} {place}" for place in range(5_000)]}), stream, compression="zstd")
    content = bytearray(stream.getvalue().to_pybytes())
    content[40:4000] = bytes(3960)
    return bytes(content)


def broken_names() -> bytes:
    """A SQLite file in which the name of a column is no text."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rows (abcdefgh)")
        return database.serialize().replace(b"abcdefgh", b"abc\xff\xfefgh")


DAMAGED = {
    "names.sqlite": broken_names(),
    "x.parquet": b"PAR1xxxxPAR1",
    "pages.parquet": broken_parquet(),
    "short.parquet": b"PAR1",
    "x.jsonl": b'{"a": 1, "b":',
    "x.json": f"[1, {SECRET}".encode(),
    "x.csv.gz": b"no gzip",
    "short.csv.gz": gzip.compress(ROWS)[:-4_000],
    "tiny.csv.gz": gzip.compress(b"a,b\n1,x\n")[:-12],
    "x.xlsx": f"a,b\n{SECRET},x\n".encode(),
    "x.sqlite": b"no sqlite" * 100,
    "x.duckdb": b"no duckdb" * 100,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_a_fault_of_the_data(tmp_path, name) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(DataError) as caught:
        engine = DuckDBEngine(tmp_path / name)
        engine.count([engine.columns[0]], MissingRules())
    assert caught.value.status.exit == 3
    assert name in str(caught.value)
    assert caught.value.hint
    assert SECRET not in str(caught.value)


def test_a_damaged_packed_file_in_another_encoding_is_refused(tmp_path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n1,\xff\n")[:-8] + b"12345678")
    with pytest.raises(DataError, match="not UTF-8"):
        DuckDBEngine(tmp_path / "x.csv.gz")


@pytest.mark.parametrize("form", ["parquet", "json", "excel", "sqlite", "duckdb"])
def test_a_file_of_another_format_is_too(tmp_path, form) -> None:
    (tmp_path / "rows.csv").write_bytes(ROWS)
    with pytest.raises(DataError, match=r"rows\.csv") as caught:
        DuckDBEngine(tmp_path / "rows.csv", DataPlan(format=form))
    assert "data.format" in caught.value.hint


def test_a_folder_that_is_not_there_and_a_codec_of_bytes(tmp_path) -> None:
    (tmp_path / "rows.csv").write_bytes(ROWS)
    with pytest.raises(PlanError, match="temp_folder"):
        DuckDBEngine(tmp_path / "rows.csv", DataPlan(temp_folder=str(tmp_path / "nowhere")))
    for name in ("base64", "rot13", "nope", "utf\0"):
        with pytest.raises(PlanError, check=lambda error: error.code == "plan.encoding"):
            DuckDBEngine(tmp_path / "rows.csv", DataPlan(encoding=name))


def test_a_file_that_is_not_there_is_not_always_the_source(tmp_path) -> None:
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    population = {"model": "k-map", "k": 2, "population": str(tmp_path / "people.csv")}
    with pytest.raises(DataError, match=r"people\.csv") as caught:
        anonymize(
            pl.DataFrame({"a": ["x"]}),
            {"version": 1, "columns": {"a": column}, "privacy": [population], "output": {"order": "keep"}},
        )
    assert "data.source" not in str(caught.value)


NAMES = {
    "in case": ("Age", "age"),
    "reserved": ("sfumato_row", "b"),
    "reserved in another case": ("SFUMATO_key0", "b"),
    "empty": ("a", ""),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_that_engines_cannot_tell_are_refused(tmp_path, case) -> None:
    names = NAMES[case]
    (tmp_path / "rows.csv").write_text(",".join(names) + "\n1,2\n", encoding="utf-8")
    table = pa.table([pa.array(["1"]), pa.array(["2"])], names=list(names))
    if all(names):  # in a file, a column without a name is called by its place
        with pytest.raises(DataError, match="name"):
            DuckDBEngine(tmp_path / "rows.csv")
    for frame in (table, table.to_pandas(), pl.DataFrame({names[0]: ["1"], names[1]: ["2"]})):
        with pytest.raises(DataError, match="name"):
            FrameEngine(frame)


@pytest.mark.parametrize("names", [[0, 1], ["a", 1], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])])
def test_names_that_are_no_texts_are_refused(names) -> None:
    with pytest.raises(DataError, check=lambda error: error.code == "data.column-name"):
        FrameEngine(pd.DataFrame([["x", "y"]], columns=names))


@pytest.mark.parametrize("name", ["AGE", "sfumato_class", "Sfumato_row"])
def test_the_column_of_classes_has_a_name_of_its_own(tmp_path, name) -> None:
    (tmp_path / "rows.csv").write_text("age\n1\n1\n", encoding="utf-8")
    plan = {
        "version": 1,
        "columns": {"age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"class_column": name, "order": "keep"},
    }
    for source in (tmp_path / "rows.csv", pl.DataFrame({"age": ["1", "1"]})):
        with pytest.raises(PlanError, match="class_column"):
            open_engine(source, read_plan(plan))


def test_other_odd_names_are_fine(tmp_path) -> None:
    names = (
        "select",
        "a b",
        'a"b',
        "a.b",
        "s",
        "text",
        "hidden",
        "classes",
        "number",
        "p0",
        "k0",
        "d0",
        "t0",
        "c0",
        "n",
    )
    frame = pl.DataFrame({name: ["x", "x"] for name in names})
    frame.write_csv(tmp_path / "rows.csv")
    any_value = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    for order in ("keep", "shuffle"):
        plan = {
            "version": 1,
            "columns": {name: any_value if place < 6 else {"role": "insensitive"} for place, name in enumerate(names)},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "output": {"order": order, "class_column": "Klasse"},
        }
        release = anonymize(tmp_path / "rows.csv", plan)
        rows = duckdb.execute(f"SELECT * FROM read_csv('{release.data}', header=true)").fetchall()
        assert rows == [(*["x"] * len(names), 1)] * 2
        release.close()


def test_rights_are_no_fault_of_the_data(tmp_path, monkeypatch) -> None:
    """Root reads every file, so the system's refusal is played."""
    path = tmp_path / "rows.csv"
    path.write_bytes(ROWS)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sfumato.delimited.opening.open", refused, raising=False)
    with pytest.raises(SfumatoError, check=lambda error: error.code == "engine.unreadable") as caught:
        DuckDBEngine(Path(path))
    assert caught.value.status.exit == 5


LINES = ("a,b", "1,2", "3,4", '5,"6\n7"', "8,9")


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (("\n", "\n", "\r\n", "\n", "\n"), "line 3 of rows.csv ends with CR LF, the lines before it with LF."),
        (("\r\n", "\r\n", "\r\n", "\r\n", "\n"), "line 6 of rows.csv ends with LF, the lines before it with CR LF."),
        (("\n", "\r", "\n", "\n", "\n"), "line 2 of rows.csv ends with CR, the lines before it with LF."),
        (("\r", "\r", "\r", "\r", "\n"), "line 6 of rows.csv ends with LF, the lines before it with CR."),
        (("\n", "\n", "\n", "\n", "\r\n"), "line 6 of rows.csv ends with CR LF, the lines before it with LF."),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_lines_that_end_differently_are_named(tmp_path, ends, said, encoding) -> None:
    """Readers do not agree where such rows end."""
    path = tmp_path / "rows.csv"
    path.write_bytes("".join(line + end for line, end in zip(LINES, ends, strict=True)).encode(encoding))
    with pytest.raises(DataError) as caught:
        DuckDBEngine(path, DataPlan(encoding=encoding))
    assert (caught.value.code, caught.value.message) == ("data.line-ends", said)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_breaks_within_quotes_are_of_any_kind(tmp_path, end) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(end.join(LINES).encode())
    with closing(DuckDBEngine(path)) as engine:
        assert engine.count(("a",), MissingRules()).rows == 4


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_the_advice_for_a_file_of_wide_signs_can_be_followed(tmp_path, encoding, packed) -> None:
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    content = "\n".join(LINES).encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError) as caught:
        DuckDBEngine(path)
    assert caught.value.code == "data.encoding" and "data.encoding in its plan" in caught.value.hint
    (advised,) = re.findall(r"--encoding ([\w-]+)", caught.value.hint)
    with closing(DuckDBEngine(path, DataPlan(encoding=advised))) as engine:
        assert engine.columns == ("a", "b") and engine.count(("a",), MissingRules()).rows == 4
    assert suggest_for_file(path).plan["data"]["encoding"] == advised
