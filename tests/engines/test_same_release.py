"""The same plan gives the same release, as a collection of rows, on every engine, whichever the method."""

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from sfumato.microdata.release import anonymize

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

ROWS = 100_000
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


def plan(method: dict) -> dict:
    return {
        "version": 1,
        "columns": COLUMNS,
        "privacy": [{"model": "k-anonymity", "k": 20}],
        "method": method,
        "output": {"suppressed": "star"},
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
    frame.write_parquet(path, row_group_size=20_000)
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
        rows = duckdb.connect().execute(f"SELECT * FROM read_csv('{data}', all_varchar=true, header=true)").fetchall()
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
        ("spark", parquet, "spark"),
    ):
        release = anonymize(source, asked, engine=engine)
        assert release.report.engine == name
        assert release.report.loss.value == pytest.approx(expected.report.loss.value)
        assert rows_of(release) == rows, name
        release.close()


def test_a_spark_frame_gives_it_too(frame, parquet, spark) -> None:
    asked = plan(METHODS["optimal"])
    release = anonymize(spark.read.parquet(str(parquet)), asked)
    assert rows_of(release) == rows_of(anonymize(frame, asked))
    release.close()
