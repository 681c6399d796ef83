"""Mondrian and local recoding: loss and time on Adult (or census rows), and a whole run on three million rows.

What is held against: the normalized certainty penalty of the well-known public implementation of Mondrian (k = 5: 8.3 %
strict, 10.6 % relaxed; k = 10: 11.2 % and 15.8 %), the loss of the leading tool's local recoding on Adult (0.0569, with
its finest setting 0.0500), and the time DuckDB takes to group and rewrite the same file.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.data import SHARED, best_of, plan, source

LARGE_ROWS = 3_000_000
LARGE_K = 10
MONDRIANS = ({}, {"mode": "relaxed"}, {"cut": "loss"})
LOCALS = ({}, {"rounds": 10}, {"rounds": 30})
NAMES = (
    "age work_class weight education education_num marital occupation relation race sex gain loss hours country class"
)
ASKED = ("age", "work_class", "education_num", "marital", "occupation", "race", "sex", "country")


def _table(given: dict[str, Any], data: Path) -> tuple[Any, Any]:
    """The plan and its frequency table."""
    from sfumato.engines.opening import open_engine
    from sfumato.microdata.plan.read import read_plan
    from sfumato.pipelines.release_stages.counting import frequency_table

    read = read_plan(given)
    engine = open_engine(data, read)
    try:
        return read, frequency_table(read, engine)
    finally:
        engine.close()


def _plain(folder: Path) -> tuple[str, Path, dict[str, Any]]:
    """Data whose categories have no hierarchy: their sets of values are published."""
    adult = SHARED / "adult.data"
    if not adult.exists():
        name, path, columns = source(folder)
        bare = {column: {"role": "quasi-identifier"} for column in columns if column != "salary-class"}
        bare["age"]["type"] = "integer"
        return name, path, {"columns": bare | {"salary-class": {"role": "insensitive"}}}
    columns = {name: {"role": "quasi-identifier" if name in ASKED else "insensitive"} for name in NAMES.split()}
    columns["age"]["type"] = columns["education_num"]["type"] = "integer"
    data = {"separator": ",", "header": False, "strip": True, "missing": ["?"], "on_missing": "drop"}
    return "Adult", adult, {"columns": columns, "data": data}


def mondrian(folder: Path) -> None:
    """Certainty penalty and time of the search."""
    from sfumato.microdata.methods.search import search

    name, path, rest = _plain(folder)
    print(f"Mondrian on {name}: normalized certainty penalty, milliseconds of search (best of 5), CPU milliseconds")
    for k in (5, 10):
        for options in MONDRIANS:
            given = plan({}, (), k, {"name": "mondrian", **options}) | rest
            read, table = _table(given, path)
            found = search(read, table)
            wall, cpu = best_of(5, lambda read=read, table=table: search(read, table))
            penalty = found.details["normalized_certainty_penalty"]
            words = ", ".join(options.values()) or "strict"
            print(f"  k = {k:3d}  {words:8}  {penalty:7.2%}  {1000 * wall:7.1f}  {1000 * cpu:7.1f}")


def local(folder: Path) -> None:
    """Mean loss of local recoding, and CPU time of its search; Mondrian on the same hierarchies as a yardstick."""
    from sfumato.microdata.methods.search import search

    name, path, columns = source(folder)
    names = [column for column in columns if column != "salary-class"]
    print(f"Local recoding on {name}: mean loss, CPU milliseconds of search (best of 3)")
    methods = [{"name": "local", **options} for options in LOCALS] + [{"name": "mondrian"}]
    for k in (2, 5, 10, 50, 100):
        for method in methods if k == 5 else (methods[0], methods[-1]):
            read, table = _table(plan(columns, names, k, {**method, "aggregate": "mean"}), path)
            found = search(read, table)
            _, cpu = best_of(3, lambda read=read, table=table: search(read, table))
            words = method["name"] + (f", {method['rounds']} rounds" if "rounds" in method else "")
            print(f"  k = {k:3d}  {words:18}  {found.loss:.5f}  {1000 * cpu:7.1f}")


def large(folder: Path) -> None:
    """A whole run against what DuckDB takes to group and to rewrite the same file, the best of three each."""
    from sfumato.datasets import census
    from sfumato.pipelines.release import anonymize

    path = folder / "census.parquet"
    dataset = census(LARGE_ROWS)
    dataset.write(path)
    given = dataset.plan(str(path), LARGE_K, {"name": "mondrian"})
    names = [name for name, column in given["columns"].items() if column["role"] == "quasi-identifier"]
    print(f"Census, {LARGE_ROWS:,} rows, {len(names)} quasi-identifiers, k = {LARGE_K}: seconds, CPU seconds")
    wall, cpu = best_of(3, lambda: _duckdb(path, names, folder))
    print(f"  DuckDB groups and rewrites  {wall:7.2f}  {cpu:7.2f}")
    seconds: list[dict[str, float]] = []

    def run() -> None:
        release = anonymize(path, given)
        seconds.append(release.report.to_dict()["seconds"])
        release.close()

    whole, whole_cpu = best_of(3, run)
    print(f"  the whole run               {whole:7.2f}  {whole_cpu:7.2f}  ({whole / wall:.1f} times, bar 3)")
    print("  of it " + ", ".join(f"{part} {time:.2f}" for part, time in seconds[-1].items()))


def _duckdb(path: Path, names: list[str], folder: Path) -> None:
    """Count the combinations, and write every row again."""
    import duckdb

    columns = ", ".join(f'"{name}"' for name in names)
    with duckdb.connect() as connection:
        groups = f"SELECT {columns}, count(*) AS n FROM read_parquet('{path}') GROUP BY {columns}"
        connection.execute(f"CREATE TEMP TABLE groups AS {groups}").fetchall()
        target = f"'{folder / 'rewritten.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
        connection.execute(f"COPY (SELECT * FROM read_parquet('{path}')) TO {target}").fetchall()


def main() -> None:
    """Run all; with `quick`, without the three million rows."""
    with tempfile.TemporaryDirectory() as folder:
        mondrian(Path(folder))
        local(Path(folder))
        if "quick" not in sys.argv:
            large(Path(folder))


if __name__ == "__main__":
    main()
