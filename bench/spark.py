"""Measures a release on Spark against Spark's own group-by plus write of the same data, in the same session.

Usage: python -m bench.spark [--rows 2000000,10000000] [--folder DIR]
"""

import argparse
import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.scale import MEMORY, census_plan, source_of

MOST = 3.0
PAGE = Path(__file__).resolve().parents[1] / "docs" / "spark-benchmark.md"
HEAD = """# Spark, measured

Written by `python -m bench spark` on {day}, on {cores} cores; do not edit. Census as Parquet: a whole release on Spark,
with its folder, beside Spark's own group-by of all columns plus a write of the same rows, in the same session. Seconds
of wall-clock time.

| rows | own group-by | own write | count | search | apply | recount | release | times its own (bar 3) |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


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


def measure(rows: int, folder: Path) -> tuple[float, str]:
    """Print what both take; the ratio, and a line of the page."""
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
    names = ("group", "write", "count", "search", "apply", "verify", "total")
    cells = (f"{rows:,}", *(f"{(base | ours).get(name, 0.0):.1f}" for name in names), f"{ratio:.2f}")
    return ratio, f"| {' | '.join(cells)} |\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="2000000,10000000")
    parser.add_argument("--folder", type=Path)
    asked, _ = parser.parse_known_args()
    with TemporaryDirectory() as scratch:
        measured = [measure(int(rows), asked.folder or Path(scratch)) for rows in asked.rows.split(",")]
    head = HEAD.format(day=f"{date.today():%Y-%m-%d}", cores=os.cpu_count())
    PAGE.write_text(head + "".join(line for _, line in measured), encoding="utf-8")
    if measured[-1][0] > MOST:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
