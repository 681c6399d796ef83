"""Measures table protection: instances, speed, random hierarchies; writes docs/tables-benchmark.md."""

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.pipelines.tables.protect import run
from sfumato.tables.build import build, read_source
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import CellStatus, ProtectionLevels, Table, make_constraints, make_table
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.patterns import fast
from sfumato.tables.suppression.problem import make_problem

ROOT = Path(__file__).resolve().parents[1]
INSTANCES = ROOT.parent / "shared" / "data" / "tables"
PAGE = ROOT / "docs" / "tables-benchmark.md"
SECONDS = 60.0
# Large tables by where their unsafe cells are, with a seed, a method, and its time limit.
LARGE = (
    ("uneven", (10, 10, 10), 1, "optimal", 120.0),
    ("uneven", (10, 10, 10), 2, "optimal", 120.0),
    ("uneven", (10, 10, 10), 3, "optimal", 120.0),
    ("scattered", (10, 10, 10), 1, "optimal", 120.0),
    ("scattered", (17, 17, 17), 1, "fast", 100.0),
    ("scattered", (220, 225), 1, "fast", 120.0),
    ("scattered", (440, 450), 1, "fast", 360.0),
)
# How uneven the categories of an uneven survey are: the deviation of the logarithms of their sizes.
UNEVEN = 0.6
# What others published: the column of the instance and the marks of its secondary cells.
OTHERS = {
    "argus": "τ-ARGUS",
    "argus_modular": "τ-ARGUS",
    "sdcTable_OPT": "sdcTable optimal",
    "sdcTable_GAUSS": "sdcTable",
}
MARKS = {"11", "x"}
RANGES = [(1, 3), (1, 2), (1, 5), (2, 4), (1, 4)]

Timed = tuple[Any, float, float]


def timed(work: Callable[[], Any]) -> Timed:
    """The answer, the wall-clock seconds and the processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = work()
    return answer, time.perf_counter() - wall, time.process_time() - processor


def protected(name: str, method: str, seconds: float) -> Timed:
    """An instance through the whole pipeline, audit included, with its report."""
    folder = INSTANCES / name
    files = {"cells": str(folder / "cells.csv"), "relations": str(folder / "relations.csv")}
    plan = read_table_plan({"version": 1, "table": files, "method": {"name": method, "time_limit": seconds}})
    return timed(lambda: run(plan, read_source(plan)).report)


def published(name: str) -> str:
    """What others published for an instance, as far as its file says."""
    with (INSTANCES / name / "cells.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = []
    for column, tool in OTHERS.items():
        if column in rows[0]:
            cost = sum(float(row["cost"]) for row in rows if row[column] in MARKS and row["status"] != "u")
            found.append(f"{tool} {cost:,.0f}")
    return ", ".join(found)


def measured_instances() -> Iterator[str]:
    """One line of the table for each instance."""
    for folder in sorted(INSTANCES.glob("*/cells.csv")):
        name = folder.parent.name
        best, wall, processor = protected(name, "optimal", SECONDS)
        quick, _, quick_processor = protected(name, "fast", SECONDS)
        gap = "proved" if best["proved_optimal"] else f"{100 * best['gap']:.2f} %"
        yield (
            f"| {name} | {best['cells']:,} | {best['primary']} | {best['cost']:,.0f} | {best['secondary']} | {gap} | "
            f"{wall:.1f} ({processor:.1f}) | {quick['cost']:,.0f} | {quick['cost'] / best['cost'] - 1:.1%} | "
            f"{quick_processor:.1f} | {published(name)} |"
        )


def scattered(shape: Sequence[int], seed: int = 1, share: float = 0.05) -> TextColumns:
    """A survey whose unsafe cells lie anywhere: a share has one or two respondents, the others three or more."""
    rng = np.random.default_rng(seed)
    values, number = np.floor(rng.lognormal(4, 1.2, shape)).clip(1), rng.integers(3, 12, shape)
    unsafe = rng.choice(values.size, int(share * values.size), replace=False)
    number.ravel()[unsafe] = rng.integers(1, 3, len(unsafe))
    return _with_margins(values, number)


def uneven(shape: Sequence[int], seed: int = 1, share: float = 0.05, skew: float = UNEVEN) -> TextColumns:
    """A survey of respondents over categories of uneven size, as many as leave a share of the cells with one or two."""
    rng = np.random.default_rng(seed)
    sizes = np.ones(shape)
    for axis, size in enumerate(shape):
        sizes *= rng.lognormal(0, skew, size).reshape([-1 if place == axis else 1 for place in range(len(shape))])
    mean = next(mean for scale in np.geomspace(1e4, 1e-3, 4000) if _few(mean := scale * sizes) >= share)
    number = np.maximum(rng.poisson(mean), 1)
    values = [np.ceil(rng.lognormal(3, 1, count)).sum() for count in number.ravel()]
    return _with_margins(np.reshape(values, shape), number)


def _few(mean: Any) -> float:
    """The share of cells to expect with one or two respondents."""
    return float((np.exp(-mean) * (mean + mean**2 / 2)).mean())


def _with_margins(values: Any, number: Any) -> TextColumns:
    """A table of sums and numbers of respondents with its margins."""
    shape = values.shape
    for axis in range(len(shape)):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
        number = np.concatenate([number.sum(axis=axis, keepdims=True), number], axis=axis)
    codes = list(zip(*product(*(["Total", *map(str, range(size))] for size in shape)), strict=True))
    texts = {f"d{place}": own for place, own in enumerate(codes)}
    numbers = {"v": values, "n": number}
    return TextColumns(
        texts | {name: tuple(f"{own:.0f}" for own in column.ravel()) for name, column in numbers.items()}
    )


SURVEYS = {"uneven": uneven, "scattered": scattered}


def measured_surveys() -> Iterator[str]:
    """Large tables with single respondents who attack, through the whole pipeline."""
    for kind, shape, seed, method, limit in LARGE:
        plan = read_table_plan(
            {
                "version": 1,
                "table": {"value": "v", "frequency": "n"},
                "dimensions": {f"d{place}": {"column": f"d{place}"} for place in range(len(shape))},
                "primary": [{"rule": "frequency", "min": 3}],
                "method": {"name": method, "time_limit": limit},
            }
        )
        columns = SURVEYS[kind](shape, seed)
        report, wall, processor = timed(lambda: run(plan, columns).report)  # noqa: B023
        attackers = report["attackers"]["attacked"]["respondents"]
        gap = "" if report["gap"] is None else ", proved" if report["proved_optimal"] else f", gap {report['gap']:.1%}"
        size = "×".join(map(str, shape))
        what = f"{method}, {size}, {kind}, {report['primary']:,} unsafe, {attackers:,} single respondents"
        memory = getrusage(RUSAGE_SELF).ru_maxrss // 1024
        outcome = f"cost {report['cost']:,}, {report['secondary']:,} secondary{gap}; audit passed; {memory:,} MB so far"
        yield f"| {what}, limit {limit:.0f} s | {outcome} | {wall:.1f} | {processor:.1f} |"


def grid(rows: int, columns: int, share: float, seed: int) -> Table:
    """A two-way table with margins, skewed values, and unsafe cells that must be kept within 15 %."""
    rng = np.random.default_rng(seed)
    values = np.zeros((rows + 1, columns + 1))
    values[1:, 1:] = np.floor(rng.lognormal(4, 1.2, (rows, columns))).clip(1)
    values[0], values[:, 0] = values.sum(axis=0), values.sum(axis=1)
    values[0, 0] = values[1:, 1:].sum()
    places = np.arange(values.size).reshape(values.shape)
    lines = [line.tolist() for line in (*places, *places.T)]
    status = np.zeros(values.size, np.int8)
    status[rng.choice(places[1:, 1:].ravel(), int(share * rows * columns), replace=False)] = CellStatus.SENSITIVE
    need = np.where(status == CellStatus.SENSITIVE, np.ceil(values.ravel() * 0.15), 0.0)
    relations = make_constraints([(line, [-1.0] + [1.0] * (len(line) - 1)) for line in lines])
    return make_table(values.ravel(), relations, status=status, protection_levels=ProtectionLevels(need, need))


def measured_grids() -> Iterator[str]:
    """Speed on generated two-way tables."""
    for rows, columns, share in ((50, 50, 0.1), (100, 30, 0.03)):
        for seed in (1, 2, 3):
            problem = make_problem(grid(rows, columns, share, seed))
            best, wall, processor = timed(lambda: optimal(problem, 300.0))  # noqa: B023
            quality = "proved" if best.proved else f"gap {100 * best.gap:.2f} %"
            what = f"optimal, {rows}×{columns}, {share:.0%} unsafe, seed {seed}"
            yield f"| {what} | {quality} | {wall:.1f} | {processor:.1f} |"
    for share in (0.05, 0.1):
        table = grid(100, 100, share, 1)
        quick, wall, processor = timed(lambda: fast(make_problem(table)))  # noqa: B023
        yield f"| fast, 100×100, {share:.0%} unsafe | cost {quick.cost:,.0f} | {wall:.1f} | {processor:.1f} |"


def city(seed: int) -> TextColumns:
    """A city: 12 districts, 34 quarters, small counts."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.choice(np.arange(1, 34), 11, replace=False))
    rows: list[tuple[str, str, int]] = []
    for district, size in enumerate(np.diff([0, *ends, 34]), 1):
        values = rng.poisson(6, size)
        rows.append((str(district), "0", int(values.sum())))
        rows += [(str(district), str(quarter), int(value)) for quarter, value in enumerate(values, 1)]
    rows.append(("0", "0", sum(row[2] for row in rows if row[1] == "0")))
    return TextColumns({name: tuple(str(row[place]) for row in rows) for place, name in enumerate(("K", "Q", "n"))})


def plan_of(levels: list[str], low: float, high: float, method: str | dict[str, Any]) -> TablePlan:
    """A plan for one dimension with level columns."""
    return read_table_plan(
        {
            "version": 1,
            "table": {"value": "n"},
            "dimensions": {"area": {"levels": levels, "total": 0}},
            "primary": [{"rule": "range", "min": low, "max": high}],
            "method": method,
        }
    )


def measured_cities() -> Iterator[str]:
    """Speed on city-sized hierarchies: median and worst of fifty."""
    plan = plan_of(["K", "Q"], 1, 3, "optimal")
    times = []
    for seed in range(50):
        problem = make_problem(build(plan, city(seed))[0].table)
        runs = [timed(lambda: optimal(problem)) for _ in range(3)]  # noqa: B023
        assert all(run[0].proved for run in runs)
        times.append(min(run[2] for run in runs))
    yield f"| optimal, 50 cities of 12 districts and 34 quarters, median | proved | | {np.median(times):.3f} |"
    yield f"| the same, 9 in 10 below | proved | | {np.quantile(times, 0.9):.3f} |"
    yield f"| the same, worst | proved | | {max(times):.3f} |"


def hierarchy(seed: int) -> tuple[TextColumns, list[str]]:
    """A hierarchy of two or three levels with small counts."""
    rng = np.random.default_rng(seed)
    depth, largest = 2 + seed % 2, int(rng.integers(3, 9))
    rows: list[tuple[Any, ...]] = []

    def grow(above: tuple[str, ...]) -> int:
        total = 0
        for place in range(1, int(rng.integers(1, 5)) + 1):
            here = (*above, str(place))
            leaf = int(rng.integers(0, largest + 1 if rng.random() < 0.7 else 60)) if len(here) == depth else grow(here)
            if len(here) == depth:
                rows.append((*here, leaf))
            total += leaf
        rows.append((*above, *["0"] * (depth - len(above)), total))
        return total

    grow(())
    levels = [f"L{place}" for place in range(depth)]
    names = [*levels, "n"]
    return TextColumns({name: tuple(str(row[place]) for row in rows) for place, name in enumerate(names)}), levels


def measured_hierarchies(count: int = 1000) -> Iterator[str]:
    """What the original leaves open, and what the methods leave open: nothing."""
    open_, exact, masked, done = 0, 0, dict.fromkeys(("original", "intervals", "optimal", "fast", "ranges"), 0), 0
    leaks = dict.fromkeys(("intervals", "optimal", "fast", "ranges"), 0)
    refused = 0
    for seed in range(count):
        cells, levels = hierarchy(seed)
        low, high = RANGES[seed % len(RANGES)]
        prefer = ("min", "max")[seed // 2 % 2]
        bare = run(plan_of(levels, low, high, {"name": "intervals", "tie_break": prefer, "repair": False}), cells)
        open_ += not bare.passed
        exact += bool(bare.report["audit"]["exact"] or bare.report["audit"].get("inconsistent"))
        try:
            for name in leaks:
                method = {"name": name} | ({"tie_break": prefer} if name == "intervals" else {})
                report = run(plan_of(levels, low, high, method), cells).report
                leaks[name] += report["audit"]["exact"] + report["audit"]["too_narrow"]
                masked[name] += report["masked"]
        except UnattainableError:
            refused += 1
            continue
        masked["original"] += bare.report["masked"]
        done += 1
    yield f"- The original alone leaves {open_ / count:.1%} open: some cell can be narrowed below its published range;"
    yield f"  in {exact / count:.1%} something is exactly recovered, false or contradictory."
    yield f"- {refused} of {count:,} are refused: a single unsafe cell is the grand total itself."
    for name, found in leaks.items():
        yield f"- `{name}`: {found} cells exact or too narrow; {masked[name] / done:.2f} masked cells a table."
    yield f"- The original masks {masked['original'] / done:.2f} cells a table."


HEAD = """# Table protection, measured

Written by `python bench/tables.py` (or with the name of a section); do not edit. Seconds are wall-clock, processor
seconds of both cores together in brackets or beside, on two cores shared with other work. Cost is the sum of the `cost`
of secondary cells. Instances and large tables go through the whole pipeline: all attackers that the table tells of, and
the audit, which every pattern passed: in instances of counts the single persons of cells of 1 attack, which others did
not ask for, in large tables every single respondent. Large tables have about 5 % unsafe cells: `uneven` ones come from
respondents over categories of uneven size, so that they lie where categories are small, as in real surveys; in
`scattered` ones they lie anywhere, at random.

Time limits, wall-clock, search and audit together: instances 60 s, large tables as said, two-way tables 300 s. In the
section on hierarchies the attacker knows how the original computes its ranges, and any masked cell that he recovers
counts, not only unsafe ones.
"""


def instances() -> Iterator[str]:
    """The section on the instances."""
    yield (
        "| instance | cells | unsafe | optimal: cost | secondary | gap | seconds | fast: cost | above optimal "
        "| processor seconds | published by others |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    yield from measured_instances()


def speed() -> Iterator[str]:
    """The section on speed."""
    yield from ("| what | outcome | seconds | processor seconds |", "|---|---|---|---|")
    yield from measured_surveys()
    yield from measured_grids()
    yield from measured_cities()


def hierarchies() -> Iterator[str]:
    """The section on random hierarchies."""
    yield "Two and three levels, small counts, both preferences, five ranges; 1,000 tables."
    yield ""
    yield from measured_hierarchies()


SECTIONS = {"Instances": instances, "Speed": speed, "Random hierarchies": hierarchies}


def main(only: str | None = None) -> None:
    """Measure everything, or one section; print it and write it into the page."""
    for title, measure in SECTIONS.items():
        if only not in (None, title) or (measure is instances and not INSTANCES.is_dir()):
            continue
        lines = [f"## {title}", ""]
        for line in measure():
            print(line, flush=True)
            lines.append(line)
        write(title, "\n".join(lines))


def write(title: str, text: str) -> None:
    """Replace one section of the page, keeping the others."""
    old = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    kept = {part.partition("\n")[0]: "## " + part.strip() for part in old} | {title: text}
    parts = [kept[name] for name in SECTIONS if name in kept]
    PAGE.write_text("\n\n".join([HEAD.strip(), *parts]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
