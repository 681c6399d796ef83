"""Models, risk and utility: searches with promises about sensitive values, and all measures, in CPU time, warm."""

import tempfile
from pathlib import Path
from typing import Any

from bench.data import best_of, source
from sfumato.engines.opening import open_engine
from sfumato.microdata.measures.overview import measure, measure_raw
from sfumato.microdata.methods.search import search
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.pipelines.risk import risk

BAR_SEARCH, BAR_RISK, BAR_MEASURES = 0.150, 1.0, 0.5


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        name, path, columns = source(Path(folder))
        print(f"{name}: occupation sensitive, salary class left out, 5 % suppression, k = 5; CPU ms warm, best of 5")
        _searches(path, columns)
        _measures(path, columns)


def _models(columns: dict[str, Any]) -> dict[str, dict[str, Any]]:
    tree = {"distance": "hierarchical", "hierarchy": columns["occupation"]["hierarchy"]}
    diversity = {"model": "l-diversity", "column": "occupation"}
    closeness = {"model": "t-closeness", "column": "occupation"}
    return {
        "distinct l = 3": diversity | {"l": 3},
        "distinct l = 5": diversity | {"l": 5},
        "entropy l = 3": diversity | {"l": 3, "variant": "entropy"},
        "entropy l = 5": diversity | {"l": 5, "variant": "entropy"},
        "recursive c = 4, l = 3": diversity | {"l": 3, "c": 4, "variant": "recursive"},
        "t-closeness 0.2 equal": closeness | {"t": 0.2},
        "t-closeness 0.3 equal": closeness | {"t": 0.3},
        "t-closeness 0.2 hierarchical": closeness | {"t": 0.2} | tree,
        "t-closeness 0.3 hierarchical": closeness | {"t": 0.3} | tree,
        "alpha 0.4": {"model": "alpha-k-anonymity", "column": "occupation", "alpha": 0.4, "k": 5},
        "beta-likeness 2": {"model": "beta-likeness", "column": "occupation", "beta": 2},
        "delta-disclosure 2": {"model": "delta-disclosure", "column": "occupation", "delta": 2},
        "average risk 0.05": {"model": "average-risk", "threshold": 0.05},
    }


def _plan(columns: dict[str, Any], path: Path, model: dict[str, Any]) -> dict[str, Any]:
    chosen = dict(columns) | {"occupation": {"role": "sensitive"}, _last(columns): {"role": "insensitive"}}
    return {
        "version": 1,
        "data": {"source": str(path)},
        "columns": chosen,
        "privacy": [{"model": "k-anonymity", "k": 5}, model],
        "method": {"name": "optimal", "suppression": 0.05},
    }


def _last(columns: dict[str, Any]) -> str:
    return next(name for name in columns if name.startswith("salary"))


def _searches(path: Path, columns: dict[str, Any]) -> None:
    models = _models(columns)
    plan = read_plan(_plan(columns, path, models["distinct l = 3"]))
    table = frequency_table(plan, open_engine(None, plan))
    for name, model in models.items():
        asked = read_plan(_plan(columns, path, model))
        _, cpu = best_of(5, lambda asked=asked: search(asked, table))
        nodes = search(asked, table)
        bar = f"(bar {BAR_SEARCH * 1000:.0f})" if model["model"] in ("l-diversity", "t-closeness") else ""
        print(f"  {name:<30} {cpu * 1000:7.1f} ms  {nodes.checked:4} of {nodes.total} nodes {bar}")


def _measures(path: Path, columns: dict[str, Any]) -> None:
    plan = read_plan(_plan(columns, path, _models(columns)["distinct l = 3"]))
    table = frequency_table(plan, open_engine(None, plan))
    found = search(plan, table)
    _, cpu = best_of(3, lambda: measure(plan, table, found.recoding, measure_raw(table)))
    print(f"  {'risk and utility of a release':<30} {cpu * 1000:7.1f} ms  (bar {BAR_MEASURES * 1000:.0f})")
    wall, cpu = best_of(3, lambda: risk(path, list(columns), population_size=300_000))
    bar = f"{wall * 1000:.1f} ms wall (bar {BAR_RISK * 1000:.0f})"
    print(f"  {'risk of the raw file, all of it':<30} {cpu * 1000:7.1f} ms, {bar}")


if __name__ == "__main__":
    main()
