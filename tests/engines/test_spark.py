"""The Spark engine: counts and releases as written by hand, on frames and files, and what happens when a job dies."""

import csv
import datetime as dt
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
    with pytest.raises(DataError) as refused:
        SparkEngine.of_path(tmp_path / "ragged.csv", DataPlan()).count(["a"], MissingRules())
    assert refused.value.code == "data.ragged"


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


@pytest.mark.parametrize(("form", "order"), [("csv", "keep"), ("parquet", "shuffle")])
def test_rows_of_several_files_keep_their_order(spark, tmp_path, form, order) -> None:
    (tmp_path / "rows").mkdir()
    for file, size in enumerate((3, 40, 7)):
        table = pa.table({"q": ["ab"[row % 2] for row in range(size)], "n": [f"{file}-{row}" for row in range(size)]})
        target = tmp_path / "rows" / f"part {9 - file}.{form}"
        (arrow_csv.write_csv if form == "csv" else pq.write_table)(table, target)
    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "n": {"role": "insensitive"}}
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
    with pytest.raises(EngineError) as refused:
        anonymize(frame, plan)
    assert refused.value.code == "engine.no-row-number"


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
    "small": (pa.array([1e20, 1e-5, 2.0, None, None, None]), "1e+20 1e-05 2.0"),
    "decimal": (
        pa.array([Decimal("1.50000000"), Decimal("0.00000001"), None, None, None, None]),
        "1.50000000 0.00000001",
    ),
    "moment": (
        pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30, 15, 500), None, None, None, None]),
        "2020-01-01_00:00:00 2020-01-01_12:30:15.0005",
    ),
    "moment with zone": (
        pa.array(
            [dt.datetime(2020, 7, 1, 12, 0, 0, 120_000), dt.datetime(1930, 7, 1), None, None, None, None],
            pa.timestamp("us", "UTC"),
        ),
        "2020-07-01_12:00:00.12+00 1930-07-01_00:00:00+00",
    ),
    "day": (
        pa.array([dt.date(2020, 1, 1), dt.date(1582, 10, 20), dt.date(1899, 12, 31), None, None, None]),
        "2020-01-01 1582-10-20 1899-12-31",
    ),
    "truth": (pa.array([True, False, None, None, None, None]), "true false"),
    "whole": (pa.array([7, -3, None, None, None, None]), "7 -3"),
}


@pytest.fixture(scope="module")
def published_texts(spark, tmp_path_factory):
    """Return the columns that each engine publishes of a table with all types, with the session in another zone."""
    folder = tmp_path_factory.mktemp("texts")
    arrays = {name: array for name, (array, _) in TEXTS.items()}
    pq.write_table(pa.table(arrays | {f"raw {name}": array for name, array in arrays.items()}), folder / "rows.parquet")
    columns = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in TEXTS}
    columns |= {f"raw {name}": {"role": "insensitive"} for name in TEXTS}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]}
    plan |= {"method": {"name": "samarati"}, "output": {"order": "keep"}}
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    published = {}
    try:
        for engine in ("spark", "duckdb"):
            release = anonymize(folder / "rows.parquet", plan, engine=engine)
            with release.data.open(encoding="utf-8", newline="") as stream:
                published[engine] = list(csv.DictReader(stream))
            release.close()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    return published


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("engine", ["spark", "duckdb"])
def test_texts_are_the_same_on_every_engine_wherever_the_session_is(published_texts, engine, name) -> None:
    expected = [text.replace("_", " ") for text in TEXTS[name][1].split()]
    expected += [""] * (6 - len(expected))
    for column in (name, f"raw {name}"):
        assert sorted(row[column] for row in published_texts[engine]) == sorted(expected)


@pytest.mark.parametrize("kind", ["array(1, 2)", "named_struct('a', 1)", "X'00'", "INTERVAL '1' DAY"])
def test_what_has_no_text_is_refused(spark, kind) -> None:
    engine = SparkEngine.of_frame(spark.sql(f"SELECT 1 AS a, {kind} AS photo"))
    with pytest.raises(DataError) as refused:
        engine.count(["a", "photo"], MissingRules())
    assert refused.value.code == "data.no-text"


def test_a_column_without_texts_may_be_removed(spark) -> None:
    rows = spark.sql("SELECT 1 AS a, X'00' AS photo UNION ALL SELECT 1 AS a, X'01' AS photo")
    photo = {"role": "insensitive"}
    columns = {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "photo": photo}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(DataError) as refused:
        anonymize(rows, plan)
    assert refused.value.code == "data.no-text"
    photo["role"] = "identifier"
    release = anonymize(rows, plan)
    assert {row["photo"] for row in release.data.collect()} == {"*"}
    release.close()


def test_names_that_differ_in_case_alone_are_refused(spark, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("Age,age\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError) as refused:
        SparkEngine.of_path(tmp_path / "rows.csv")
    assert refused.value.code == "data.duplicate-columns"


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
