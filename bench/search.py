"""Full-domain search: the bars of the first job, with the leading Java tool's times on the same kind of machine."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.data import best_of, plan, source
from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.full_domain import exhaustive, optimal
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table

# Suppression -> milliseconds allowed, and what the leading Java tool takes.
BARS = {0.0: (10, 46), 0.02: (75, 750), 1.0: (300, 2800)}
TIMES = 15


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        name, path, columns = source(Path(folder))
        names = list(columns)
        group_by = _pandas_group_by(path)
        print(f"{name}, plain pandas group-by of all columns: {group_by * 1000:.1f} ms")
        eight = [column for column in names if column != "salary-class"]
        _searches(path, columns, eight, group_by)
        _sweep(path, columns, names, group_by)
        _whole_runs(Path(folder), path, columns, eight)


def _pandas_group_by(path: Path) -> float:
    import pandas as pd

    frame = pd.read_csv(path, sep=";", dtype=str)
    return best_of(5, lambda: frame.groupby(list(frame.columns), sort=False).size())[0]


def _table(path: Path, wanted: dict[str, Any]) -> tuple[Any, FrequencyTable]:
    resolved = read_plan(wanted)
    engine = open_engine(path, resolved)
    try:
        return resolved, frequency_table(resolved, engine)
    finally:
        engine.close()


def _searches(path: Path, columns: dict[str, Any], names: list[str], group_by: float) -> None:
    print("8 quasi-identifiers, loss-metric, k=5   suppression   wall ms   CPU ms   bar   Java tool   x group-by")
    for share, (bar, java) in BARS.items():
        method = {"name": "optimal", "loss": "loss-metric", "suppression": share}
        resolved, table = _table(path, plan(columns, names, 5, method))
        wall, cpu = best_of(TIMES, lambda r=resolved, t=table: optimal.search(problem_of(r, r.method, t)))
        figures = f"{wall * 1000:7.1f}   {cpu * 1000:6.1f}   {bar:3d}   {java:9d}   {wall / group_by:10.1f}"
        print(f"{'':39s} {share:11.0%}   {figures}")


def _sweep(path: Path, columns: dict[str, Any], names: list[str], group_by: float) -> None:
    method = {"name": "exhaustive", "loss": "loss-metric"}
    resolved, table = _table(path, plan(columns, names, 5, method))
    nodes = exhaustive.judge_all(problem_of(resolved, resolved.method, table))
    wall, cpu = best_of(3, lambda: exhaustive.judge_all(problem_of(resolved, resolved.method, table)))
    print(f"all {len(nodes):,} nodes: {wall:.2f} s wall, {cpu:.2f} s CPU (bar 1 s), {wall / group_by:.0f} x group-by")


def _whole_runs(folder: Path, path: Path, columns: dict[str, Any], names: list[str]) -> None:
    import yaml

    method = {"name": "optimal", "loss": "loss-metric", "suppression": 0.02}
    wanted = plan(columns, names, 5, method) | {"data": {"source": str(path)}}
    (folder / "plan.yaml").write_text(yaml.safe_dump(wanted), encoding="utf-8")
    version = min(_seconds("--version") for _ in range(5))
    runs = [_seconds("anonymize", str(folder / "plan.yaml"), "--out", str(folder / f"out{n}")) for n in range(3)]
    print(f"sfumato --version: {version:.2f} s (bar 0.3); sfumato anonymize end to end: {min(runs):.2f} s (bar 3)")


def _seconds(*arguments: str) -> float:
    begin = perf_counter()
    subprocess.run([sys.executable, "-m", "sfumato", *arguments], check=True, capture_output=True)
    return perf_counter() - begin
