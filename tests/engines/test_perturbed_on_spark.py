"""Perturbation on Spark: every operation gives the same rows as on the other engines, from files and from frames."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.pipelines.release import anonymize

ROWS = 60


def plan() -> dict[str, Any]:
    changed = {
        "income": {"microaggregate": 3},
        "savings": {"microaggregate": 3},
        "age": {"swap": 0.2},
        "job": {"pram": 0.5},
        "region": {"swap_households": 0.4},
        "rent": {"noise": 0.2, "round": 5},
        "rooms": {"noise": {"share": 0.3, "group": "home"}},
        "space": {"noise": {"share": 0.3, "group": "home"}},
        "wealth": {"top": 0.9, "bottom": 0.1, "round": 10},
        "height": {"bin": 10},
    }
    columns = {name: {"role": "insensitive", "publish": publish} for name, publish in changed.items()}
    columns["sex"] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns["hh"] = {"role": "household"}
    promise = {"model": "k-anonymity", "k": 2}
    return {"version": 1, "columns": columns, "privacy": [promise], "seed": 4, "output": {"order": "keep"}}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    random = np.random.default_rng(2)
    income = np.exp(random.normal(5, 1, ROWS)).round(2)
    numbers = random.integers(10, 200, (ROWS, 5)).astype(str)
    return pl.DataFrame(
        {
            "sex": random.choice(["m", "f"], ROWS).tolist(),
            "region": random.choice(["n", "s"], ROWS // 2).repeat(2).tolist(),
            "hh": [f"h{row // 2}" for row in range(ROWS)],
            "income": income.astype(str).tolist(),
            "savings": [*[None] * 4, *(income * random.gamma(2, size=ROWS)).round(2).astype(str).tolist()[4:]],
            "age": random.permutation(ROWS).astype(str).tolist(),
            "job": [None, *random.choice(["a", "b"], ROWS - 1).tolist()],
            **{name: numbers[:, at].tolist() for at, name in enumerate(("rent", "rooms", "space", "wealth", "height"))},
        }
    )


def test_files_give_the_same_rows(spark, rows, tmp_path) -> None:
    rows.write_csv(tmp_path / "rows.csv")
    shown = []
    for engine in ("duckdb", "frames", "spark"):
        release = anonymize(tmp_path / "rows.csv", plan(), engine=engine)
        release.save(tmp_path / engine)
        release.close()
        shown.append(pl.read_csv(tmp_path / engine / "data.csv", infer_schema=False).rows())
    assert shown[0] == shown[1] == shown[2]
    changed = {name for at, name in enumerate(rows.columns) if [row[at] for row in shown[0]] != rows[name].to_list()}
    assert changed == {*rows.columns} - {"sex"}


def test_a_frame_keeps_its_marginals_and_groups(spark, rows) -> None:
    frame = spark.createDataFrame(rows.rows(), rows.columns)
    release = anonymize(frame, plan())
    shown = pl.DataFrame([tuple(row) for row in release.data.collect()], schema=rows.columns, orient="row")
    release.close()
    assert shown.group_by("income", "savings").len()["len"].min() >= 3
    assert sorted(shown["age"]) == sorted(rows["age"])
    assert sorted(shown["region"]) == sorted(rows["region"])
    assert shown["income"].cast(float).mean() == pytest.approx(rows["income"].cast(float).mean(), rel=1e-9)
    assert set(shown["hh"]) == {"*"}


def test_parquet_files_of_several_parts_keep_households_together(spark, tmp_path) -> None:
    """Parts of different sizes are read in another order than that of their names, in which keys stand."""
    households = [0] * 40 + [row // 2 for row in range(2, 90)]
    rows = pl.DataFrame({"sex": ["m", "f"] * 64, "hh": [f"h{number}" for number in households]})
    rows = rows.with_columns(region=pl.Series([f"r{number % 4}" for number in households]), place=pl.arange(0, 128))
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    for part, (begin, length) in enumerate([(0, 4), (4, 60), (64, 10), (74, 54)]):
        rows.slice(begin, length).write_parquet(folder / f"part-{part}.parquet")
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "hh": {"role": "household"},
        "place": {"role": "insensitive"},
        "region": {"role": "insensitive", "publish": {"swap_households": 0.5}},
    }
    promise = {"model": "k-anonymity", "k": 2}
    output = {"order": "keep", "format": "parquet"}
    asked = {"version": 1, "columns": columns, "privacy": [promise], "seed": 4, "output": output}
    shown = []
    for engine in ("duckdb", "spark"):
        release = anonymize(folder, asked, engine=engine)
        release.save(tmp_path / engine)
        release.close()
        shown.append(pl.read_parquet(tmp_path / engine / "data.parquet").sort("place"))
    assert shown[0].rows() == shown[1].rows()
    together = shown[1].with_columns(hh=rows["hh"]).group_by("hh").agg(pl.col("region").n_unique())
    assert together["region"].max() == 1
    assert (shown[1]["region"] != rows["region"]).sum() > 20
