"""Measures what a newcomer gets: suggest, the proposed plan, persons at scale, and many quasi-identifiers.

Usage: python -m bench newcomer, or python -m bench.newcomer suggest|adult|visits|thirty [ROWS | FILE]
Every measurement is a process of its own, so that its time and its peak memory are its own, too.
"""

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 50, 10_000
VISITS = 10_000_000
NAMES = ("age", "sex", "zip", "job", "income", "diagnosis", "date", "town", "note", "q")


def spent() -> float:
    """The processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak() -> float:
    """The largest memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def suggest(rows: str = str(ROWS)) -> dict[str, Any]:
    """A plan for a file of 50 columns: numbers, dates, codes, texts."""
    from sfumato.pipelines.suggest import suggest_for_file

    draw = random.Random(1)
    cells: tuple[Callable[[], object], ...] = (
        lambda: draw.randint(18, 90),
        lambda: draw.choice("mf"),
        lambda: f"{draw.randrange(10000, 10400)}",
        lambda: draw.choice(("cook", "nurse", "driver", "teacher")),
        lambda: f"{draw.lognormvariate(8, 0.5):.2f}",
        lambda: f"{draw.choice('EIJK')}{draw.randrange(10, 60)}.{draw.randrange(10)}",
        lambda: f"{draw.randint(1990, 2023)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}",
        lambda: draw.choice(("Ulm", "Bonn", "Jena", "Kiel")),
        lambda: " ".join(draw.choices(("came", "late", "with", "her", "son", "again"), k=6)),
        lambda: draw.randint(1, 5),
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        header = ",".join(f"{NAMES[place % 10]}_{place // 10}" for place in range(COLUMNS))
        lines = (",".join(str(cells[place % 10]()) for place in range(COLUMNS)) for _ in range(int(rows)))
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        begin, cpu = time.perf_counter(), spent()
        suggest_for_file(path)
        return {"seconds": time.perf_counter() - begin, "cpu": spent() - cpu}


def adult(source: str) -> dict[str, Any]:
    """The proposed plan of a file: the whole run against the slowest single method, and the same release twice."""
    from sfumato.pipelines.release import anonymize
    from sfumato.pipelines.suggest import suggest_for_file

    plan = suggest_for_file(Path(source)).plan | {"seed": 7}
    _timed(source, plan, "auto")  # what is loaded once is loaded now
    runs = {name: _timed(source, plan, name) for name in ("local", "optimal", "mondrian")}
    begin, cpu = time.perf_counter(), spent()
    first = list(anonymize(Path(source), plan).published.texts(next(iter(plan["columns"]))))
    seconds, used = time.perf_counter() - begin, spent() - cpu
    second = list(anonymize(Path(source), plan).published.texts(next(iter(plan["columns"]))))
    return {
        "runs": runs,
        "auto": {"seconds": seconds, "cpu": used},
        "cpu ratio": used / max(run["cpu"] for run in runs.values()),
        "wall ratio": seconds / max(run["seconds"] for run in runs.values()),
        "same": first == second,
    }


def _timed(source: str, plan: dict[str, Any], method: str) -> dict[str, float]:
    from sfumato.pipelines.release import anonymize

    own = {"name": method} | ({"cut": "loss"} if method == "mondrian" else {"suppression": 0.02})
    begin, cpu = time.perf_counter(), spent()
    report = anonymize(Path(source), plan | {"method": own}).report
    return {"seconds": time.perf_counter() - begin, "cpu": spent() - cpu, "loss": report.loss.value}


def visits(role: str, source: str) -> dict[str, Any]:
    """Visits with persons, or with their column withheld, by `optimal`."""
    from sfumato.datasets import DATASETS
    from sfumato.pipelines.release import anonymize

    plan = dict(DATASETS["visits"](rows=10).plan(source, 5))
    plan["columns"] = plan["columns"] | {"person": {"role": role}}
    plan |= {"method": {"name": "optimal", "suppression": 0.02}, "output": {"format": "parquet", "order": "keep"}}
    plan["data"] = plan["data"] | {"memory_limit": "2GB"}
    with TemporaryDirectory() as folder:
        begin, cpu = time.perf_counter(), spent()
        anonymize(Path(source), plan).save(Path(folder) / "out")
        return {"seconds": time.perf_counter() - begin, "cpu": spent() - cpu, "gb": peak()}


def thirty(method: str) -> dict[str, Any]:
    """Thirty quasi-identifiers, of 5,000 rows, by a method."""
    import polars as pl

    from sfumato.pipelines.release import anonymize

    draw = random.Random(3)
    hierarchy = {"type": "intervals", "start": 0, "end": 15, "widths": [2, 4, 8]}
    names = [f"c{place}" for place in range(30)]
    frame = pl.DataFrame({name: [int(16 * draw.random() ** 3) for _ in range(5_000)] for name in names})
    column = {"role": "quasi-identifier", "type": "integer", "hierarchy": hierarchy}
    own = {"name": method, "time_limit": 5} | ({"cut": "loss"} if method == "mondrian" else {"suppression": 0.02})
    plan = {"version": 1, "columns": dict.fromkeys(names, column), "privacy": [{"model": "k-anonymity", "k": 5}]}
    begin = time.perf_counter()
    report = anonymize(frame, plan | {"method": own}).report
    withheld = report.suppressed_rows / report.rows
    return {"seconds": time.perf_counter() - begin, "gb": peak(), "loss": report.loss.value, "withheld": withheld}


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "suggest": suggest,
    "adult": adult,
    "visits": visits,
    "thirty": thirty,
}


def apart(*arguments: str) -> dict[str, Any]:
    """A measurement in a process of its own."""
    command = [sys.executable, "-m", "bench.newcomer", *arguments]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def main(rows: int = VISITS) -> None:
    """Every bar, one line each."""
    from sfumato.datasets import DATASETS

    print("suggest, 10,000 x 50:", apart("suggest"))
    for method in ("local", "mondrian", "greedy"):
        print(f"30 quasi-identifiers, {method}:", apart("thirty", method))
    with TemporaryDirectory() as folder:
        source = Path(folder) / "visits.parquet"
        DATASETS["visits"](rows=rows).write(source)
        plain, persons = (apart("visits", role, str(source)) for role in ("identifier", "person"))
    print(f"{rows:,} visits:", plain, persons, f"ratio {persons['seconds'] / plain['seconds']:.2f}")


if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](*sys.argv[2:])))
