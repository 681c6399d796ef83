"""Measures engines at scale: time, memory, ratio to DuckDB's own group-by plus rewrite; writes docs/scalability.md.

Usage: python -m bench.scale [--rows 1000000,10000000,100000000] [--spark 1000000,10000000] [--folder DIR]
Every measurement is a process of its own, so that its peak memory is its own, too.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scalability.md"
MEMORY = "2GB"
STAGES = ("count", "search", "apply", "verify")
SECONDS_FOR_WIDE = 60
# Values of the five columns that widen the census, drawn so that small values are frequent.
WIDENED = (20, 50, 12, 30, 8)


def census_plan(source: Path) -> dict[str, Any]:
    """Nine quasi-identifiers, k = 5, at most 2 % of the rows suppressed."""
    from sfumato.datasets import DATASETS

    plan = dict(DATASETS["census"](rows=10).plan(str(source), 5))
    plan["columns"] = plan["columns"] | {"salary-class": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    plan["data"] = plan["data"] | {"memory_limit": MEMORY}
    return plan


def own(source: Path, folder: Path) -> dict[str, Any]:
    """DuckDB's own group-by of all columns and rewrite of the file, with the same memory."""
    import duckdb

    config = {"memory_limit": MEMORY, "temp_directory": str(folder / "spill")}
    with duckdb.connect(config=config) as connection:
        columns = ", ".join(
            f'"{row[0]}"' for row in connection.execute(f"DESCRIBE SELECT * FROM '{source}'").fetchall()
        )
        begin = time.perf_counter()
        group = f"CREATE TEMP TABLE grouped AS SELECT {columns}, count(*) AS n FROM '{source}' GROUP BY {columns}"
        connection.execute(group).fetchall()
        grouped = time.perf_counter()
        target = folder / "rewritten.parquet"
        copy = f"COPY (SELECT * FROM '{source}') TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        connection.execute(copy).fetchall()
        combinations = connection.execute("SELECT count(*) FROM grouped").fetchall()[0][0]
    seconds = {"group": grouped - begin, "rewrite": time.perf_counter() - grouped}
    target.unlink()
    return {"combinations": combinations, "seconds": seconds}


def released(source: Path, folder: Path, engine: str) -> dict[str, Any]:
    """A release of the file."""
    from sfumato.pipelines.release import anonymize

    release = anonymize(source, census_plan(source), engine=engine, workspace=folder)  # type: ignore[arg-type]
    report = release.report
    release.close()
    seconds = report.to_dict()["seconds"]
    return {"seconds": seconds, "suppressed_rows": report.suppressed_rows, "loss": report.loss.value}


def wide(source: Path, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """Fourteen quasi-identifiers: the census widened with five generated columns."""
    import numpy as np
    import polars as pl

    from sfumato.pipelines.release import anonymize

    frame, plan = pl.read_parquet(source), census_plan(source)
    random = np.random.default_rng(3)
    for place, values in enumerate(WIDENED):
        drawn = random.exponential(values / 6, len(frame)).astype(int) % values
        frame = frame.with_columns(pl.Series(f"generated{place}", [f"{value:02d}" for value in drawn]))
        plan["columns"][f"generated{place}"] = {"role": "quasi-identifier", "hierarchy": {"type": "digits"}}
    plan["method"] = plan["method"] | {"time_limit": SECONDS_FOR_WIDE}
    report = anonymize(frame, plan).report
    return {"seconds": report.to_dict()["seconds"], "loss": report.loss.value, "proved": report.proved_optimal,
            "nodes": dict(report.nodes), "details": dict(report.details)}  # fmt: skip


WORK: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
    "own": own,
    "duckdb": lambda source, folder: released(source, folder, "duckdb"),
    "spark": lambda source, folder: released(source, folder, "spark"),
    "wide": wide,
}


def work(kind: str, source: Path, folder: Path) -> None:
    """One measurement, in this process; the answer is printed."""
    begin, processor = time.perf_counter(), time.process_time()
    found = WORK[kind](source, folder)
    found |= {"wall": time.perf_counter() - begin, "processor": time.process_time() - processor}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measured(kind: str, source: Path, folder: Path) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    command = [sys.executable, "-m", "bench.scale", "--work", kind, str(source), str(folder)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{kind} on {source.name} failed:\n{ran.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    print(f"{source.name} {kind}: {found['wall']:.1f} s, {found['peak_mb']:.0f} MB", file=sys.stderr)
    return found


def source_of(rows: int, folder: Path) -> Path:
    """The census with so many rows, made once."""
    from sfumato.datasets import DATASETS

    path = folder / f"census{rows}.parquet"
    if not path.exists():
        DATASETS["census"](rows=rows).write(path)
    return path


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """By which power of the rows the time grows, from the smallest to the largest size."""
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


def row_of(rows: int, kind: str, base: dict[str, Any], found: dict[str, Any]) -> str:
    """A line of the table."""
    stages = " | ".join(f"{found['seconds'].get(stage, 0.0):.1f}" for stage in STAGES)
    # Of Spark only the Python side can be seen from here.
    processor = "" if kind == "spark" else f"{found['processor'] / base['processor']:.2f}"
    ratios = f"{found['wall'] / base['wall']:.2f} | {processor}"
    return (
        f"| {rows:,} | {kind} | {base['combinations']:,} | {base['wall']:.1f} | {stages} | {found['wall']:.1f} | "
        f"{ratios} | {found['peak_mb']:,.0f} |"
    )


def page(lines: Sequence[str], growth: str, widest: dict[str, Any]) -> str:
    """The page."""
    proved = "a proved optimum" if widest["proved"] else f"a bound of {widest['details']['bound']:.4f}"
    return "\n".join(
        [
            "# Engines at scale",
            "",
            f"Written by `python -m bench.scale` on a machine with {os.cpu_count()} cores. Census as Parquet, nine "
            "quasi-identifiers, k = 5, method optimal (loss metric), at most 2 % of the rows suppressed; DuckDB with a "
            f"memory limit of {MEMORY}. *Own* is DuckDB's own group-by of all columns plus a rewrite of the same file, "
            "measured in the same run with the same limit. Seconds of wall-clock time; peak memory of the process in "
            "MB (of Spark, its Python side alone: the rest is Java's). The ratio compares releases with *own*, in "
            "wall-clock and in processor time; measuring risk and utility for the report is part of the release.",
            "",
            "| rows | engine | combinations | own | count | search | apply | recount | release | ratio "
            "| ratio (processor) | peak MB |",
            "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
            *lines,
            "",
            growth,
            "",
            "## Wide problems",
            "",
            f"Census of 30,000 rows widened with five generated columns, 14 quasi-identifiers, "
            f"{widest['nodes']['total']:,} nodes: {proved}, loss {widest['loss']:.4f}, after "
            f"{widest['nodes']['checked']:,} nodes and {widest['seconds']['search']:.1f} s of search.",
            "",
        ]
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Measure all sizes and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="1000000,10000000,100000000")
    parser.add_argument("--spark", default="1000000,10000000")
    parser.add_argument("--folder", type=Path, help="where the data are made and kept; a temporary folder by default")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work:
        work(given.work[0], Path(given.work[1]), Path(given.work[2]))
        return
    with TemporaryDirectory() as scratch:
        run(_numbers(given.rows), _numbers(given.spark), given.folder or Path(scratch), Path(scratch))


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def run(sizes: Sequence[int], spark: Sequence[int], data: Path, scratch: Path) -> None:
    """Measure and write."""
    data.mkdir(parents=True, exist_ok=True)
    lines, seconds = [], []
    for rows in sorted({*sizes, *spark}):
        source = source_of(rows, data)
        base = measured("own", source, scratch)
        for kind in [name for name, wanted in (("duckdb", sizes), ("spark", spark)) if rows in wanted]:
            found = measured(kind, source, scratch)
            lines.append(row_of(rows, kind, base, found))
            if kind == "duckdb":
                seconds.append(found["wall"])
    growth = ""
    if len(seconds) > 1:
        ordered = sorted(sizes)
        growth = (
            f"From {ordered[0]:,} to {ordered[-1]:,} rows the time of a release on DuckDB grows with the power "
            f"{exponent(ordered, seconds):.2f} of the rows."
        )
    PAGE.write_text(page(lines, growth, measured("wide", source_of(30_000, data), scratch)), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
