"""Perturbation on Spark: the same rows as on the embedded engine, from files and from frames."""

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
    }
    columns = {name: {"role": "insensitive", "publish": publish} for name, publish in changed.items()}
    columns["sex"] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns["hh"] = {"role": "household"}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "seed": 4}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    random = np.random.default_rng(2)
    income = np.exp(random.normal(5, 1, ROWS)).round(2)
    return pl.DataFrame(
        {
            "sex": random.choice(["m", "f"], ROWS).tolist(),
            "region": random.choice(["n", "s"], ROWS // 2).repeat(2).tolist(),
            "hh": [f"h{row // 2}" for row in range(ROWS)],
            "income": income.astype(str).tolist(),
            "savings": (income * random.gamma(2, size=ROWS)).round(2).astype(str).tolist(),
            "age": random.permutation(ROWS).astype(str).tolist(),
            "job": random.choice(["a", "b"], ROWS).tolist(),
        }
    )


def test_files_give_the_same_rows(spark, rows, tmp_path) -> None:
    rows.write_csv(tmp_path / "rows.csv")
    shown = []
    for engine in ("duckdb", "spark"):
        release = anonymize(tmp_path / "rows.csv", plan(), engine=engine)
        release.save(tmp_path / engine)
        release.close()
        shown.append(pl.read_csv(tmp_path / engine / "data.csv", infer_schema=False).rows())
    assert shown[0] == shown[1]


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
