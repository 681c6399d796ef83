"""The Spark engine: counts and releases as written by hand, on frames and files, and what happens when a job dies."""

import csv
import datetime as dt
import math
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.engines.spark.engine import SparkEngine
from sfumato.errors import DataError, EngineError
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.release import anonymize

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

NAMES = ("Geschlecht (m/w)", "a.b `c`", "Größe", "it's")
ROWS = [
    ("m", "a,b", "007", "x"),
    ("m", "a,b", "007", "y"),
    ("w", 'q"q', "7", None),
    ("w", None, "7", "ä;ö"),
    (None, "", "007", "zwei\nZeilen"),
]
PLAN = {
    "version": 1,
    "columns": {
        NAMES[0]: {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        NAMES[1]: {"role": "identifier"},
        NAMES[2]: {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
        NAMES[3]: {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal", "loss": "loss-metric", "suppression": 0.2},
    "output": {"order": "keep"},
}


def arrow_table() -> pa.Table:
    return pa.table({name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)})


def tally(counted) -> Counter:
    found: Counter = Counter()
    for codes, count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True):
        found[tuple(values[code] for values, code in zip(counted.values, codes, strict=True))] += count
    return found


def rows_of(frame) -> Counter:
    return Counter(tuple(row) for row in frame.collect())


@pytest.fixture(params=["frame", "parquet"])
def engine(request, spark, tmp_path):
    if request.param == "frame":
        return SparkEngine.of_frame(spark.createDataFrame(ROWS, [f"{name}" for name in NAMES]))
    pq.write_table(arrow_table(), tmp_path / "rows.parquet")
    return SparkEngine.of_path(tmp_path / "rows.parquet")


def test_counts_are_as_written_by_hand(engine) -> None:
    assert engine.columns == NAMES
    assert tally(engine.count([NAMES[0], NAMES[2]], MissingRules())) == {
        ("m", "007"): 2,
        ("w", "7"): 2,
        (None, "007"): 1,
    }
    assert tally(engine.count([NAMES[1]], MissingRules())) == {("a,b",): 2, ('q"q',): 1, (None,): 1, ("",): 1}
    required = MissingRules(missing=("a,b",), required=(NAMES[1],))
    found = engine.count([NAMES[0]], required)
    assert tally(found) == {("w",): 1, (None,): 1}
    assert found.rows == 5
    assert engine.locate(NAMES[2], ["7"], 1) == ((3,) if engine.path else ())


@pytest.mark.parametrize("suppressed", ["star", "drop"])
def test_the_release_of_a_frame_is_a_frame_as_written_by_hand(spark, suppressed) -> None:
    """Rows 1-2 and 3-4 are alike; the row with the missing sex is alone and is suppressed, its sensitive value too."""
    source = spark.createDataFrame(ROWS, list(NAMES))
    release = anonymize(
        source, PLAN | {"output": {"suppressed": suppressed, "class_column": "Klasse", "order": "keep"}}
    )
    assert type(release.data) is type(source)
    assert release.data.columns == [*NAMES, "Klasse"]
    kept = [("m", "*", "007", "x", 1), ("m", "*", "007", "y", 1), ("w", "*", "7", None, 2), ("w", "*", "7", "ä;ö", 2)]
    hidden = [("*", "*", "*", "*", 0)] if suppressed == "star" else []
    assert rows_of(release.data) == Counter([*kept, *hidden])
    assert (release.report.engine, release.report.suppressed_rows) == ("spark", 1)
    assert rows_of(source) == Counter(ROWS)
    release.close()


def test_texts_of_typed_values_are_the_same_as_elsewhere(spark, tmp_path) -> None:
    values = {
        "flag": [True, False, None],
        "whole": [7, -3, None],
        "share": [0.1, 1e20, math.nan],
        "small": [1e-5, 2.0, None],
        "day": [dt.date(2024, 2, 29), dt.date(1899, 12, 31), None],
        "moment": [dt.datetime(2024, 2, 29, 13, 5, 7), dt.datetime(1970, 1, 1), None],
    }
    pq.write_table(pa.table(values), tmp_path / "typed.parquet")
    engine = SparkEngine.of_path(tmp_path / "typed.parquet")
    expected = {
        "flag": {"true", "false", None},
        "whole": {"7", "-3", None},
        "share": {"0.1", "1e+20", None},
        "small": {"1e-05", "2.0", None},
        "day": {"2024-02-29", "1899-12-31", None},
        "moment": {"2024-02-29 13:05:07", "1970-01-01 00:00:00", None},
    }
    found = engine.count(list(expected), MissingRules())
    assert {name: set(texts) for name, texts in zip(found.columns, found.values, strict=True)} == expected


def test_floats_are_released_with_the_texts_that_they_have_elsewhere(spark, tmp_path) -> None:
    """One value is generalized away, the other column is published as it is, and all of it as CSV."""
    pq.write_table(pa.table({"a": [0.5, 0.5, 3.0, 3.0], "b": [1e20, 1e20, 1e20, 1e20]}), tmp_path / "n.parquet")
    plan = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    releases = [anonymize(tmp_path / "n.parquet", plan, engine=name) for name in ("spark", "duckdb")]
    written = [release.data.read_text() for release in releases]
    assert written[0] == "a,b\n0.5,1e+20\n0.5,1e+20\n3.0,1e+20\n3.0,1e+20\n"
    assert written[0] == written[1]


CSV = 'a;b\n007;"ä\nö"\n 8;""\n"x;y";"say ""hi"""\n'


def test_a_csv_file_is_read_and_written_as_by_duckdb(spark, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(CSV, encoding="utf-8")
    expected = {("007", "ä\nö"): 1, (" 8", None): 1, ("x;y", 'say "hi"'): 1}
    for engine in (SparkEngine.of_path(path), DuckDBEngine(path)):
        assert tally(engine.count(["a", "b"], MissingRules())) == expected
        assert engine.locate("a", ["x;y"], 5) == (3,)
    plan = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"order": "keep"},
    }
    release = anonymize(path, plan, engine="spark")
    assert isinstance(release.data, Path)
    assert tally(DuckDBEngine.of_published(release.data, ("a", "b"), ";").count(["a", "b"], MissingRules())) == expected
    folder = release.save(tmp_path / "out")
    assert (folder / "data.csv").read_bytes() == release.data.read_bytes()
    release.close()


def test_a_ragged_csv_file_is_refused(spark, tmp_path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match="too many or too few"):
        SparkEngine.of_path(tmp_path / "ragged.csv", DataPlan()).count(["a"], MissingRules())


def test_partitioned_folders_keep_texts_and_row_numbers(spark, tmp_path) -> None:
    for zip_, names in (("00712", ["x", "y"]), ("10115", ["z"])):
        folder = tmp_path / "people" / f"zip={zip_}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"name": names}), folder / "part-0.parquet")
    for engine in (SparkEngine.of_path(tmp_path / "people"), DuckDBEngine(tmp_path / "people")):
        assert tally(engine.count(["zip", "name"], MissingRules())) == {
            ("00712", "x"): 1,
            ("00712", "y"): 1,
            ("10115", "z"): 1,
        }
        assert engine.locate("name", ["z"], 5) == (3,)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_of_several_files_keep_their_order(spark, tmp_path, form) -> None:
    (tmp_path / "rows").mkdir()
    for file, size in enumerate((3, 40, 7)):
        table = pa.table({"q": ["ab"[row % 2] for row in range(size)], "n": [f"{file}-{row}" for row in range(size)]})
        target = tmp_path / "rows" / f"part {9 - file}.{form}"
        (arrow_csv.write_csv if form == "csv" else pq.write_table)(table, target)
    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "n": {"role": "insensitive"}}
    for order in ("keep", "shuffle"):
        plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "seed": 1}
        plan |= {"data": {"format": form}, "output": {"order": order}}
        shown = []
        for engine in ("duckdb", "spark"):
            release = anonymize(tmp_path / "rows", plan, engine=engine)
            shown.append(release.data.read_text().replace('"', ""))
            release.close()
        assert shown[0] == shown[1] and (shown[0].splitlines()[1] == "a,2-0") == (order == "keep")


def test_rows_that_are_put_in_order_part_by_part_come_as_on_other_engines(spark, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("sfumato.engines.spark.apply.ROWS_A_PART", 40)
    rows = "\n".join(f"{'ab'[place % 2]},{place}" for place in range(300))
    (tmp_path / "rows.csv").write_text(f"x,n\n{rows}\n")
    plan = {
        "version": 1,
        "columns": {"x": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "n": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "seed": 5,
    }
    folders = [
        anonymize(tmp_path / "rows.csv", plan, engine=engine).save(tmp_path / engine) for engine in ("duckdb", "spark")
    ]
    shown = [(folder / "data.csv").read_text() for folder in folders]
    assert shown[0] == shown[1]
    assert shown[0].splitlines()[1:6] != [f"{'ab'[place % 2]},{place}" for place in range(5)]


def test_a_parquet_release_is_a_folder_that_reads_back(spark, tmp_path) -> None:
    pq.write_table(arrow_table(), tmp_path / "rows.parquet")
    release = anonymize(
        tmp_path / "rows.parquet", PLAN | {"output": {"format": "parquet", "order": "keep"}}, engine="spark"
    )
    expected = {("m", "007"): 2, ("w", "7"): 2}
    assert tally(DuckDBEngine(release.data).count([NAMES[0], NAMES[2]], MissingRules())) == expected
    release.close()


def test_dividing_equal_rows_needs_a_lasting_order(spark) -> None:
    frame = spark.createDataFrame([("1", "a")] * 2 + [("2", "b")] * 5 + [("3", "c")] * 2, ["age", "note"])
    plan = {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "any"}},
            "note": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "mondrian", "mode": "relaxed"},
        "output": {"order": "keep"},
    }
    with pytest.raises(EngineError, match="no stable order"):
        anonymize(frame, plan)


def test_a_killed_worker_is_a_clear_error_and_a_rerun_works(spark, tmp_path) -> None:
    """A worker process of the job dies in the middle of the work."""
    from pyspark.sql import functions as F

    alive = tmp_path / "alive"
    mark = str(alive)

    def deadly(value):
        if not Path(mark).exists():
            os._exit(1)
        return value

    rows = spark.createDataFrame([("m",)] * 4, ["sex"]).select(F.udf(deadly, "string")("sex").alias("sex"))
    plan = {
        "version": 1,
        "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    with pytest.raises(EngineError) as caught:
        anonymize(rows, plan)
    assert caught.value.code == "engine.spark"
    assert "Nothing was published" in caught.value.hint
    alive.touch()
    release = anonymize(rows, plan)
    assert rows_of(release.data) == Counter({("m",): 4})
    release.close()


TEXTS = {
    "single": (
        pa.array([0.1, 512313.625, 1e10, -0.0, float("nan"), None], pa.float32()),
        "0.1 512313.62 10000000000.0 0.0",
    ),
    "double": (pa.array([0.1, 1e16, 5e-324, -0.0, float("nan"), None]), "0.1 1e+16 5e-324 0.0"),
    "decimal": (pa.array([Decimal("1.50000000"), Decimal("0.00000001")]), "1.50000000 0.00000001"),
    "moment": (
        pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30, 15, 500)]),
        "2020-01-01_00:00:00 2020-01-01_12:30:15.0005",
    ),
    "moment with zone": (
        pa.array([dt.datetime(2020, 7, 1, 12, 0, 0, 120_000), dt.datetime(1930, 7, 1)], pa.timestamp("us", "UTC")),
        "2020-07-01_12:00:00.12+00 1930-07-01_00:00:00+00",
    ),
    "day": (pa.array([dt.date(2020, 1, 1), dt.date(1582, 10, 20)]), "2020-01-01 1582-10-20"),
    "truth": (pa.array([True, None]), "true"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_those_of_the_other_engines_wherever_the_session_is(spark, tmp_path, name) -> None:
    array, texts = TEXTS[name]
    expected = [text.replace("_", " ") for text in texts.split()]
    expected += [None] * (len(array) - len(expected))
    pq.write_table(pa.table({"x": array, "raw": array}), tmp_path / "rows.parquet")
    plan = {
        "version": 1,
        "columns": {
            "x": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "raw": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"order": "keep"},
    }
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for engine in ("spark", "duckdb"):
            release = anonymize(tmp_path / "rows.parquet", plan, engine=engine)
            folder = release.save(tmp_path / engine)
            release.close()
            with (folder / "data.csv").open(encoding="utf-8", newline="") as stream:
                rows = list(csv.reader(stream))[1:]
            assert sorted(rows) == sorted([text or "", text or ""] for text in expected), engine
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_a_folder_of_parquet_is_saved(spark, tmp_path) -> None:
    pq.write_table(pa.table({"x": ["a", "a", "b", "b"]}), tmp_path / "rows.parquet")
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "columns": {"x": column},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(
        tmp_path / "rows.parquet", plan | {"output": {"format": "parquet", "order": "keep"}}, engine="spark"
    )
    folder = release.save(tmp_path / "out")
    release.close()
    assert sorted(pq.read_table(folder / "data.parquet")["x"].to_pylist()) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("kind", ["array(1, 2)", "named_struct('a', 1)", "X'00'", "INTERVAL '1' DAY"])
def test_what_has_no_text_is_refused(spark, kind) -> None:
    rows = spark.sql(f"SELECT 1 AS a, {kind} AS photo UNION ALL SELECT 1 AS a, {kind} AS photo")
    engine = SparkEngine.of_frame(rows)
    with pytest.raises(DataError, match='"photo"'):
        engine.count(["a", "photo"], MissingRules())
    plan = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "photo": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    with pytest.raises(DataError, match='"photo"'):
        anonymize(rows, plan)
    plan["columns"]["photo"] = {"role": "identifier"}
    release = anonymize(rows, plan)
    assert {row["photo"] for row in release.data.collect()} == {"*"}
    release.close()


def test_names_that_differ_in_case_alone_are_refused(spark, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("Age,age\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="case alone"):
        SparkEngine.of_path(tmp_path / "rows.csv")


def test_what_is_stripped_is_what_duckdb_strips(spark, tmp_path) -> None:
    table = pa.table({"q": [" 1", "1\t", "1", " ", None], "s": ["x ", "\ty", " ", None, "z"]})
    pq.write_table(table, tmp_path / "rows.parquet")
    plan = {
        "version": 1,
        "data": {"strip": True},
        "columns": {
            "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "s": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"format": "parquet", "order": "keep"},
    }
    expected = [("1", "x"), ("1", "y"), ("1", None), (None, None), (None, "z")]
    embedded = anonymize(tmp_path / "rows.parquet", plan)
    found = pq.read_table(embedded.data).to_pydict()
    assert list(zip(found["q"], found["s"], strict=True)) == expected
    embedded.close()
    release = anonymize(spark.read.parquet(str(tmp_path / "rows.parquet")), plan)
    assert rows_of(release.data) == Counter(expected)


def test_a_decimal_comma_is_read_as_a_point(spark, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text(
        "a;b\n1,5;x,y\n-2,25e1;€ 1.234,5\n7 %;1.200\n31.12.2024;5,4 mg\n1\u00a0234,5 €;1'200,7\n"
    )
    engine = SparkEngine.of_path(tmp_path / "rows.csv", DataPlan(decimal=","))
    assert tally(engine.count(["a", "b"], MissingRules())) == {
        ("1.5", "x,y"): 1,
        ("-2.25e1", "€ 1234.5"): 1,
        ("7 %", "1200"): 1,
        ("31.12.2024", "5.4 mg"): 1,
        ("1\u00a0234.5 €", "1'200.7"): 1,
    }
