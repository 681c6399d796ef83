"""The data that benchmarks run on: Adult where it lies beside the project, else generated census rows."""

import csv
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 30_000


def source(folder: Path) -> tuple[str, Path, dict[str, dict[str, Any]]]:
    """Name, file and quasi-identifiers (with hierarchies) of the benchmark data."""
    adult = SHARED / "adult.csv"
    if adult.exists():
        with adult.open(encoding="utf-8") as stream:
            names = next(csv.reader(stream, delimiter=";"))
        files = SHARED / "adult_hierarchies"
        return "Adult", adult, {name: _file(files / f"adult_hierarchy_{name}.csv") for name in names}
    from sfumato.datasets import census

    dataset = census(ROWS)
    path = folder / "census.csv"
    dataset.write(path)
    names = list(dataset.columns())
    return f"census {ROWS}", path, dataset.plan(path.name, quasi_identifiers=names)["columns"]


def _file(path: Path) -> dict[str, Any]:
    return {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": str(path)}}


def plan(columns: dict[str, Any], names: Sequence[str], k: int, method: dict[str, Any]) -> dict[str, Any]:
    """A plan in which some columns are quasi-identifiers and the others insensitive."""
    chosen = {name: column if name in names else {"role": "insensitive"} for name, column in columns.items()}
    return {"version": 1, "columns": chosen, "privacy": [{"model": "k-anonymity", "k": k}], "method": method}


def best_of(times: int, run: Any) -> tuple[float, float]:
    """The least wall-clock and CPU seconds of several runs, after one to warm up."""
    run()
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = perf_counter(), process_time()
        run()
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return min(walls), min(cpus)
