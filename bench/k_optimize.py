"""Benchmark of K-Optimize on the Adult data: cost, proved bound and gap for each k, written to docs/.

`python -m bench.k_optimize [SECONDS] [K,K,…]` runs each k for at most so many seconds (60 unless given); rows of other
k in the table are kept, so that one of them can be measured longer than the others.
"""

import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
TARGET = ROOT / "docs" / "k-optimize-benchmark.md"
ALL_K = (5, 10, 25, 50, 100, 250, 500, 1000)
FULL_DOMAIN = {5: 7_220_555, 10: 10_541_769, 50: 29_880_636}
COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
HEAD = """# K-Optimize on the Adult data

30,162 rows, 9 columns, `ordered` features, values in the order of the hierarchy files, age cut every five years: 101
cuts. Loss: discernibility, suppression allowed. Written by `python -m bench.k_optimize SECONDS K,K,…`; a proved cost is
the least that any of the 2^101 sets of cuts can have. "Full domain" is the best that one level for each column can do.

| k | cost | bound | gap | proved | seconds | nodes | memory (MB) | full domain |
|---:|---:|---:|---:|:---|---:|---:|---:|---:|
"""


def plan(k: int, seconds: float) -> dict[str, Any]:
    """The plan of a run."""
    files = DATA / "adult_hierarchies"
    columns: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": {"type": "file", "path": str(files / f"adult_hierarchy_{name}.csv")},
        }
        for name in (*COLUMNS, "salary-class")
    }
    five_years = {"type": "intervals", "start": 0, "end": 99, "widths": [5, 10, 20]}
    columns["age"] = {"role": "quasi-identifier", "type": "integer", "min_level": 1, "hierarchy": five_years}
    return {
        "version": 1,
        "data": {"source": str(DATA / "adult.csv"), "separator": ";"},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "k-optimize", "features": "ordered", "time_limit": seconds},
    }


def measured(k: int, seconds: float) -> str:
    """One row of the table."""
    from sfumato.engines.opening import open_engine
    from sfumato.microdata.methods.k_optimize import search as k_optimize
    from sfumato.microdata.methods.k_optimize.cut_features import space_of
    from sfumato.microdata.plan.methods import KOptimize
    from sfumato.microdata.plan.read import read_plan
    from sfumato.pipelines.release_stages.counting import frequency_table

    read = read_plan(plan(k, seconds))
    assert isinstance(read.method, KOptimize)
    engine = open_engine(None, read, None)
    space = space_of(read, read.method, frequency_table(read, engine))
    engine.close()
    k_optimize.optimize(space, 0.0)
    begin = perf_counter()
    found = k_optimize.optimize(space, seconds)
    spent = perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    compared = f"{FULL_DOMAIN[k]:,}" if k in FULL_DOMAIN else ""
    cells = (f"{found.best.cost:,.0f}", f"{found.bound:,.0f}", f"{found.gap:.1%}", "yes" if found.proved else "no")
    return f"| {k} | {' | '.join(cells)} | {spent:.1f} | {found.nodes:,} | {memory} | {compared} |"


def kept() -> dict[int, str]:
    """The rows of an earlier table."""
    if not TARGET.exists():
        return {}
    lines = [line for line in TARGET.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {int(line.split("|")[1]): line for line in lines if line.split("|")[1].strip().isdigit()}


def main(seconds: float = 60.0, asked: Sequence[int] = ALL_K) -> None:
    """Measure and write the table."""
    rows = kept()
    for k in asked:
        rows[k] = measured(k, seconds)
        print(rows[k], flush=True)
        TARGET.write_text(HEAD + "\n".join(rows[one] for one in sorted(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else 60.0, [int(k) for k in given[1].split(",")] if len(given) > 1 else ALL_K)
