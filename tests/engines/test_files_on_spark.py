"""Several files on Spark: the same rows as the embedded engine publishes, with a remark on one person left out."""

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

pytest.importorskip("pyspark")

PLAN = {
    "version": 1,
    "data": {"missing": ["see Mr. Kowalczyk"]},
    "files": {
        "patients": {"source": "patients.csv", "key": "pid"},
        "visits": {"source": "visits.csv", "parent": "patients"},
    },
    "columns": {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ward": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "day": {"role": "insensitive", "publish": {"shift_days": 9}},
        "ill": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 2},
        {"model": "l-diversity", "variant": "distinct", "l": 1, "column": "ill"},
    ],
    "method": {"name": "optimal", "suppression": 0.5},
    "seed": 7,
}


def test_spark_publishes_the_same(spark: Any, tmp_path: Path) -> None:
    people = "\n".join(f"P{place},{'fm'[place % 2]}" for place in range(12))
    ill = ["flu", "cold"] * 8 + ["flu", "see Mr. Kowalczyk"]
    visits = "\n".join(f"P{n % 12},{'AB'[n % 3 % 2]},2024-03-{n + 1:02d},{ill[n]}" for n in range(18))
    (tmp_path / "patients.csv").write_text(f"pid,sex\n{people}\n")
    (tmp_path / "visits.csv").write_text(f"pid,ward,day,ill\n{visits}\n")
    plan = sf.read_plan(PLAN, tmp_path)
    one = sf.anonymize_files(None, plan).save(tmp_path / "one")
    two = sf.anonymize_files(None, plan, engine="spark").save(tmp_path / "two")
    for name in PLAN["files"]:
        lines = [sorted((folder / f"{name}.csv").read_text().splitlines()) for folder in (one, two)]
        assert lines[0] == lines[1]
        assert not any("Kowalczyk" in line for line in lines[1])
