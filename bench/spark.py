"""Measures a release on Spark against Spark's own group-by plus write of the same data, in the same session.

Usage: python -m bench.spark [--rows 2000000,10000000] [--folder DIR]
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.scale import MEMORY, census_plan, source_of

MOST = 3.0


def seconds_of(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def own(spark: Any, source: Path, folder: Path) -> dict[str, float]:
    """Spark's own group-by of all columns, whose groups come to the driver, and its write of the rows."""
    rows = spark.read.parquet(str(source))
    target = str(folder / "own.parquet")
    group = seconds_of(lambda: rows.groupBy(*rows.columns).count().toArrow())
    write = seconds_of(lambda: rows.write.option("compression", "zstd").mode("overwrite").parquet(target))
    return {"group": group, "write": write}


def released(source: Path, folder: Path) -> dict[str, float]:
    """A whole release, with its folder."""
    from sfumato.pipelines.release import anonymize

    plan = census_plan(source) | {"output": {"format": "parquet"}}
    begin = time.perf_counter()
    release = anonymize(source, plan, engine="spark")
    release.save(folder / "released")
    release.close()
    stages = {name: value for name, value in release.report.to_dict()["seconds"].items() if value}
    return stages | {"total": time.perf_counter() - begin}


def measure(rows: int, folder: Path) -> float:
    """Print what both take; the ratio."""
    from sfumato.engines.spark.session import session
    from sfumato.microdata.data_plan import DataPlan

    source = source_of(rows, folder)
    spark = session(DataPlan(memory_limit=MEMORY))
    spark.read.parquet(str(source)).limit(1000).groupBy("sex").count().collect()  # so that neither pays for the start
    with TemporaryDirectory(dir=folder) as scratch:
        base, ours = own(spark, source, Path(scratch)), released(source, Path(scratch))
    ratio = ours["total"] / sum(base.values())
    told = {name: round(value, 1) for name, value in (base | ours).items()}
    print(f"{rows:,} rows: {ratio:.2f} times Spark's own group-by and write (at most {MOST:g}); seconds {told}")
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="2000000,10000000")
    parser.add_argument("--folder", type=Path)
    asked, _ = parser.parse_known_args()
    with TemporaryDirectory() as scratch:
        ratios = [measure(int(rows), asked.folder or Path(scratch)) for rows in asked.rows.split(",")]
    if ratios[-1] > MOST:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
