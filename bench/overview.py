"""One table of what matters, as ratios: the search against the leading Java tool, whole commands against plain DuckDB.

Writes docs/benchmarks.md, and shows in red what is slower by more than a fifth than the page that was there.
"""

import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

from bench.data import best_of, plan, source
from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.methods.local_recoding.search import bound_of
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.plan.read import read_plan
from sfumato.native.dispatch import way
from sfumato.pipelines.release_stages.counting import frequency_table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
SHARES = (0.0, 0.02, 1.0)
# CPU milliseconds of the leading Java tool on Adult, k = 5, by the share that may be suppressed; 8 columns.
PEER = {
    "loss-metric": (56, 919, 3456),
    "discernibility": (51, 698, 3581),
    "average-class-size": (51, 809, 3763),
    "height": (53, 762, 15),
    "loss-metric, 9 columns": (68, 1773, 7818),
}
TIMES = 7
MILLION = 1_000_000
SLOWER = 1.2
HEAD = """# Measured

Written by `make bench` on {day}; do not edit. {where}

CPU milliseconds, the least of several runs, on the Adult data (30,162 rows), k = 5. Searches are those of the method
`optimal` alone, by loss and share of rows that may be suppressed, beside the leading Java tool on a quiet machine of
the same speed. Commands run in a new process, beside a Python that reads and writes the same file with DuckDB alone. A
million rows of the generated census: a whole release beside DuckDB's own group-by and copy of the file, and of frames
beside that of the file. Other work on the machine (its load is the mean number of processes that ran) makes CPU seconds
longer, up to twice; ratios to DuckDB hold, those to the other tool are too low then.

| what | CPU ms | beside | |
|---|---:|---:|---|
"""
# What takes longer is measured by itself, and stands on pages of its own, too.
SECTIONS = ("k-optimize-benchmark.md", "tables-benchmark.md", "scalability.md", "spark-benchmark.md")
TAIL = """

What follows was measured by itself, when its benchmark was run last (`python -m bench k_optimize`, `tables`, `scale`,
`spark`). Other Python tools on the same rows: [comparison](comparison.md).
"""
RED, PLAIN = "\033[31m", "\033[0m"


@dataclass(frozen=True, slots=True)
class Line:
    """A measurement: CPU milliseconds, those of what it is compared with, and how many times it must be reached."""

    what: str
    own: float
    other: float
    against: str

    @property
    def ratio(self) -> str:
        if self.against == "the Java tool":
            return f"{self.other / self.own:.1f} times as fast"
        return f"{self.own / self.other:.1f} times as long"

    @property
    def cells(self) -> str:
        return f"| {self.what} | {self.own:,.1f} | {self.against} {self.other:,.0f} | {self.ratio} |"


def main() -> None:
    before = _committed()
    with tempfile.TemporaryDirectory() as folder:
        lines = [*_searches(Path(folder)), *_commands(Path(folder)), *_million(Path(folder))]
        local = _local(Path(folder))
    for line in lines:
        last = before.get(line.what)
        slower = last is not None and line.own > SLOWER * last
        print(f"{RED if slower else ''}{line.cells}{f' was {last:,.1f}' if slower else ''}{PLAIN if slower else ''}")
    sections = "".join(map(_section, SECTIONS))
    print(local + sections)
    PAGE.write_text(_page(lines, local) + sections, encoding="utf-8")


def _committed() -> dict[str, float]:
    """What the page that is there says."""
    if not PAGE.exists():
        return {}
    own = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d,.]+) \|", own, re.M)
    return {what: float(own.replace(",", "")) for what, own in rows}


def _searches(folder: Path) -> Iterator[Line]:
    _, path, columns = source(folder)
    names = list(columns)
    for label, peers in PEER.items():
        chosen = names if "9 columns" in label else [name for name in names if name != "salary-class"]
        for share, peer in zip(SHARES, peers, strict=True):
            method = {"name": "optimal", "loss": label.partition(",")[0], "suppression": share}
            yield Line(f"{label}, {share:.0%}", _search(path, plan(columns, chosen, 5, method)), peer, "the Java tool")


def _search(path: Path, wanted: dict[str, Any]) -> float:
    resolved = read_plan(wanted)
    engine = open_engine(path, resolved)
    try:
        table = frequency_table(resolved, engine)
    finally:
        engine.close()
    return 1000 * best_of(TIMES, lambda: optimal.search(problem_of(resolved, resolved.method, table)))[1]


def _commands(folder: Path) -> Iterator[Line]:
    """Whole commands in a new process, against Python reading and writing the same file with DuckDB alone."""
    import yaml

    _, path, columns = source(folder)
    few = [name for name in columns if name in ("sex", "age", "race")]
    wanted = plan(columns, few, 5, {"name": "optimal", "suppression": 0.02})
    wanted["data"] = {"source": str(path), "separator": ";"}
    (folder / "plan.yaml").write_text(yaml.safe_dump(wanted), encoding="utf-8")
    small = folder / "small.csv"
    small.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:200]), encoding="utf-8")
    copy = f"import duckdb; duckdb.execute(\"COPY (FROM read_csv('{path}', all_varchar=true)) TO '{folder}/copy.csv'\")"
    read = f"import duckdb; duckdb.execute(\"FROM read_csv('{small}', all_varchar=true)\").fetchall()"
    floor, little = _cpu("-c", copy), _cpu("-c", read)
    run = ("-m", "sfumato")
    out = folder / "release"
    yield Line("sfumato --help", _cpu(*run, "--help"), 300, "bar")
    yield Line("sfumato anonymize", _cpu(*run, "anonymize", f"{folder}/plan.yaml", "--out", f"{out}"), floor, "DuckDB")
    yield Line("sfumato suggest", _cpu(*run, "suggest", str(small), "--out", f"{folder}/new.yaml"), little, "DuckDB")


def _million(folder: Path) -> Iterator[Line]:
    """Whole releases of a million rows: of a Parquet file, and of the same rows as frames."""
    import pandas as pd
    import polars as pl

    from bench.scale import census_plan, own
    from sfumato.datasets import census
    from sfumato.pipelines.release import anonymize

    path = folder / "million.parquet"
    census(MILLION).write(path)
    wanted = census_plan(path)
    floor = _once(lambda: own(path, folder))
    released = _once(lambda: anonymize(path, wanted, workspace=folder).close())
    yield Line("a million rows of Parquet", released, floor, "DuckDB")
    for name, frame in (("Polars", pl.read_parquet(path)), ("pandas", pd.read_parquet(path))):
        line = _once(lambda frame=frame: anonymize(frame, wanted).close())
        yield Line(f"a million rows of {name}", line, released, "the file")


def _once(run: Callable[[], Any]) -> float:
    """CPU milliseconds of the second of two runs."""
    run()
    begin = process_time()
    run()
    return 1000 * (process_time() - begin)


def _local(folder: Path) -> str:
    """Local recoding: what it loses, and what no local recoding can lose less than."""
    _, path, columns = source(folder)
    eight = [name for name in columns if name != "salary-class"]
    rows = ["| local recoding | mean loss | proved bound | gap | CPU ms |", "|---|---:|---:|---:|---:|"]
    for k in (5, 10, 50):
        resolved = read_plan(plan(columns, eight, k, {"name": "local", "aggregate": "mean"}))
        with closing(open_engine(path, resolved)) as engine:
            table = frequency_table(resolved, engine)
        begin = process_time()
        result = search(resolved, table)
        spent = 1000 * (process_time() - begin)
        bound = bound_of(resolved, resolved.method, table, Deadline(60.0)) or 0.0
        rows.append(f"| k = {k} | {result.loss:.4f} | {bound:.4f} | {1 - bound / result.loss:.0%} | {spent:,.0f} |")
    return "\n".join(rows)


def _cpu(*arguments: str) -> float:
    """CPU milliseconds of a new Python, the least of some runs."""
    least = float("inf")
    for _ in range(3):
        for made in arguments:
            if made.endswith(("/release", "/new.yaml")):
                subprocess.run(["rm", "-rf", made], check=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * least


def _page(lines: list[Line], local: str) -> str:
    parts = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "numpy"))
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    machine += f", load {os.getloadavg()[2]:.1f}"
    where = f"{machine}, Python {platform.python_version()}, {parts}; loops: {way()}."
    head = HEAD.format(day=f"{date.today():%Y-%m-%d}", where=where)
    return head + "\n".join(line.cells for line in lines) + f"\n\n{local}" + TAIL


def _section(name: str) -> str:
    """Another page as a section of this one: its headings are one lower."""
    text = (PAGE.parent / name).read_text(encoding="utf-8")
    return "\n" + re.sub(r"^(?=#+ )", "#", text, flags=re.M)
