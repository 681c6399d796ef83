"""The same plan gives the same release, as a collection of rows, on every engine, whichever the method."""

from collections import Counter
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sizes import size

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

ROWS = size(4_000, 100_000)
COLUMNS = {
    "row": {"role": "insensitive"},
    "plz": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
    "age": {"role": "quasi-identifier", "type": "integer",
            "hierarchy": {"type": "intervals", "start": 0, "end": 100, "widths": [5, 10, 50]}},
    "Stadt": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "Krankheit": {"role": "sensitive"},
}  # fmt: skip
METHODS = {
    "exhaustive": {"name": "exhaustive", "loss": "loss-metric", "suppression": 0.02},
    "samarati": {"name": "samarati", "suppression": 0.02},
    "optimal": {"name": "optimal", "suppression": 0.02},
    "greedy": {"name": "greedy", "direction": "bottom-up", "suppression": 0.02},
    "local": {"name": "local"},
    "strict": {"name": "mondrian", "mode": "strict"},
    "relaxed": {"name": "mondrian", "mode": "relaxed"},
    "k-optimize": {"name": "k-optimize", "features": "isolate", "time_limit": 1},
}
# Engines publish by three kinds of recoding: of levels, of classes, and of classes that divide rows that are alike. In
# every run Spark is asked for one method of each.
ON_SPARK = size({"optimal", "local", "relaxed"}, {*METHODS})


def plan(method: dict) -> dict:
    return {
        "version": 1,
        "columns": COLUMNS,
        "privacy": [{"model": "k-anonymity", "k": 20}],
        "method": method,
        "output": {"suppressed": "star", "order": "keep"},
        "seed": 1,
    }


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    random = np.random.default_rng(8)
    plz = random.choice(
        ["72021", "72062", "72117", "10115", "10117", "80331", None], ROWS, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.04, 0.01]
    )
    city = random.choice(["Köln", "München", "Łódź", "São Paulo", None], ROWS, p=[0.5, 0.3, 0.1, 0.08, 0.02])
    ages = np.clip(random.normal(45, 20, ROWS).astype(int), 0, 99)
    return pl.DataFrame(
        {
            "row": np.arange(ROWS),
            "plz": plz.tolist(),
            "age": ages,
            "Stadt": city.tolist(),
            "Krankheit": random.choice(["Grippe", "Fraktur", "Ödem"], ROWS).tolist(),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def parquet(frame, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("same") / "people.parquet"
    frame.write_parquet(path, row_group_size=ROWS // 5)
    return path


@pytest.fixture(scope="module")
def table(frame, postgresql) -> str:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgresql.url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("same", frame.to_arrow(), mode="create")
        cursor.execute('ALTER TABLE same ADD PRIMARY KEY ("row")')
        connection.commit()
    return f"{postgresql.url}?table=same"


def rows_of(release) -> Counter:
    data = release.data
    if isinstance(data, pl.DataFrame):
        return Counter(tuple(None if v is None else str(v) for v in row) for row in data.rows())
    if isinstance(data, Path):
        rows = duckdb.execute(f"SELECT * FROM read_csv('{data}', all_varchar=true, header=true)").fetchall()
        return Counter(rows)
    return Counter(tuple(None if v is None else str(v) for v in row) for row in data.collect())


@pytest.mark.parametrize("method", METHODS)
def test_every_engine_gives_the_same_release(frame, parquet, table, spark, method) -> None:
    asked = plan(METHODS[method])
    if method == "k-optimize":
        asked["columns"] = COLUMNS | {"age": {"role": "insensitive"}}
    expected = anonymize(frame, asked)
    rows = rows_of(expected)
    assert rows.total() == ROWS
    for name, source, engine in (
        ("duckdb", parquet, "duckdb"),
        ("postgresql", table, None),
        *([("spark", parquet, "spark")] if method in ON_SPARK else []),
    ):
        release = anonymize(source, asked, engine=engine)
        assert release.report.engine == name
        assert release.report.loss.value == pytest.approx(expected.report.loss.value)
        assert rows_of(release) == rows, name
        release.close()


# Rows of one value are divided together, however the value is written; the texts of each value of each type.
WRITTEN = {
    "boolean": (("yes", "true", "1"), ("no", "false", "0"), (None, "?")),
    "integer": (("8", "08", "+8"), ("9", "009"), (None, "?")),
    "text": (("8",), ("08",), (None, "?")),
}
# Both kinds of files hold texts, which Spark numbers in two ways.
SPARK_READS = {"boolean": ["csv"], "integer": ["parquet"], "text": ["csv"]}
SPARK_READS = size(SPARK_READS, {kind: ["csv", "parquet"] for kind in WRITTEN})


def written(kind: str) -> pl.DataFrame:
    random = np.random.default_rng(11)
    ill = [str(random.choice(texts)) if texts[0] else texts[random.integers(2)]
           for texts in (WRITTEN[kind][random.choice(3, p=[0.5, 0.4, 0.1])] for _ in range(400))]  # fmt: skip
    ages = random.choice([20, 30, 30, 30, 40, 50], 400)
    return pl.DataFrame({"row": range(1, 401), "age": [str(age) for age in ages], "ill": ill})


def dividing(kind: str) -> dict:
    columns = {"row": {"role": "insensitive"}, "age": {"role": "quasi-identifier", "type": "integer"}}
    return {
        "version": 1,
        "seed": 3,
        "data": {"missing": ["?"]},
        "columns": columns | {"ill": {"role": "sensitive", "type": kind}},
        "privacy": [{"model": "k-anonymity", "k": 90}, {"model": "l-diversity", "l": 2, "column": "ill"}],
        "method": {"name": "mondrian", "mode": "relaxed", "bounds": "own"},
        "output": {"class_column": "class", "order": "keep"},
        "on_inference": "warn",
    }


def assert_divided_by_the_hash(rows: list[tuple], raw: pl.DataFrame, kind: str) -> None:
    """Of the rows of one age and value, those with the lesser hashes are in the class with the lesser number."""
    values = {text: value for value, texts in enumerate(WRITTEN[kind]) for text in texts}
    ages = dict(zip(raw["row"], raw["age"], strict=True))
    told = sorted(
        (ages[int(row)], values[ill], sha256(f"seed 3:division:{row}".encode()).hexdigest(), int(number))
        for row, _, ill, number in rows
    )
    groups = [[number for *_, number in group] for _, group in groupby(told, key=lambda entry: entry[:2])]
    assert all(numbers == sorted(numbers) for numbers in groups)
    assert any(len(set(numbers)) > 1 for numbers in groups)


@pytest.mark.parametrize("kind", WRITTEN)
def test_values_that_are_written_in_several_ways_are_divided_alike(kind, spark, postgresql, tmp_path) -> None:
    import adbc_driver_postgresql.dbapi as driver

    raw = written(kind)
    raw.write_csv(tmp_path / "rows.csv")
    raw.write_parquet(tmp_path / "rows.parquet")
    with driver.connect(postgresql.url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(f"written_{kind}", raw.to_arrow(), mode="create")
        cursor.execute(f'ALTER TABLE written_{kind} ADD PRIMARY KEY ("row")')
        connection.commit()
    expected = rows_of(anonymize(raw, dividing(kind)))
    assert_divided_by_the_hash(list(expected), raw, kind)
    for source, engine in (
        (tmp_path / "rows.csv", "duckdb"),
        (tmp_path / "rows.parquet", "duckdb"),
        (f"{postgresql.url}?table=written_{kind}", "postgresql"),
        *((tmp_path / f"rows.{form}", "spark") for form in SPARK_READS[kind]),
    ):
        release = anonymize(source, dividing(kind), engine=None if engine == "postgresql" else engine)
        assert release.report.engine == engine
        assert rows_of(release) == expected, (engine, source)
        release.close()


def test_floating_numbers_are_divided_alike(spark, tmp_path) -> None:
    """Spark looks them up as numbers, not by their texts."""
    raw = written("integer").with_columns(
        ill=pl.Series([None if row % 11 == 0 else (-0.0, 0.0, 0.1, 8.0)[row % 4] for row in range(400)])
    )
    raw.write_parquet(tmp_path / "rows.parquet")
    releases = [anonymize(tmp_path / "rows.parquet", dividing("decimal"), engine=name) for name in ("duckdb", "spark")]
    assert releases[0].recoding.division is not None
    assert rows_of(releases[0]) == rows_of(releases[1])
    for release in releases:
        release.close()
