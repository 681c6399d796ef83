"""Presets of the pages: what they ask of sensitive columns, and what that leaves of the detail."""

from pathlib import Path

import numpy as np
import polars as pl

from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.release import anonymize
from sfumato.web.microdata.goal_step import PURPOSES, purpose_models
from sfumato.web.microdata.result.result_figures import tried_changes
from sfumato.web.projects.loaded_data import Loaded, LoadedColumn

ROWS = 3000
KNOWN = {
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"type": "intervals", "start": 15, "end": 79, "widths": [5, 10, 20]},
    },
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "season": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
}


def expedition() -> tuple[pl.DataFrame, Loaded, dict]:
    """Members of expeditions: ten sensitive columns, most of them nearly always "FALSE", one missing in 99 %."""
    random = np.random.default_rng(8)
    rare = {f"event_{place}": random.random(ROWS) < 0.02 + 0.01 * place for place in range(8)}
    cause = [["Fall", "Avalanche", "Illness"][row % 3] if random.random() < 0.01 else None for row in range(ROWS)]
    frame = pl.DataFrame(
        {
            "age": random.integers(15, 80, ROWS),
            "sex": random.choice(["F", "M"], ROWS, p=[0.2, 0.8]),
            "season": random.choice(["Spring", "Autumn", "Winter"], ROWS, p=[0.6, 0.35, 0.05]),
            **{name: np.where(hit, "TRUE", "FALSE") for name, hit in rare.items()},
            "death_cause": cause,
            "role": random.choice(["Climber", "Leader", "Cook", "Guide"], ROWS),
        }
    )
    sensitive = [name for name in frame.columns if name not in KNOWN]
    plan = {
        "version": 1,
        "seed": 1,
        "columns": KNOWN | {name: {"role": "sensitive"} for name in sensitive},
        "privacy": [],
        "method": {"name": "optimal", "suppression": PURPOSES["public"][2]},
    }
    counts = {name: dict(frame[name].cast(pl.String).drop_nulls().value_counts().iter_rows()) for name in frame.columns}
    columns = tuple(LoadedColumn(name, counts[name], frame[name].null_count()) for name in frame.columns)
    return frame, _loaded(columns), plan


def _loaded(columns: tuple[LoadedColumn, ...]) -> Loaded:
    return Loaded(Path("members.csv"), ROWS, columns, [], {}, {}, DataPlan())


def test_rare_values_get_a_limit_of_their_proportion_and_leave_the_detail() -> None:
    frame, loaded, plan = expedition()
    models = purpose_models(plan, "public", loaded)
    kinds = {model["column"]: model["model"] for model in models[1:]}
    assert models[0] == {"model": "k-anonymity", "k": 11}
    assert kinds["role"] == "l-diversity" and {kinds[f"event_{place}"] for place in range(8)} == {"alpha-k-anonymity"}
    assert kinds["death_cause"] == "alpha-k-anonymity"
    diverse = [
        {"model": "l-diversity", "variant": "distinct", "l": min(3, frame[name].n_unique()), "column": name}
        for name in kinds
    ]
    kept = anonymize(frame, plan | {"privacy": models}).report
    strict = anonymize(frame, plan | {"privacy": [models[0], *diverse[:8], diverse[-1]]}).report
    assert kept.mean_loss is not None and strict.mean_loss is not None
    assert kept.mean_loss <= strict.mean_loss - 0.1


def test_a_preset_without_diversity_asks_for_classes_alone() -> None:
    _, loaded, plan = expedition()
    assert purpose_models(plan, "internal", loaded) == [{"model": "k-anonymity", "k": 3}]


def test_tried_changes_are_taken_with_one_click(tmp_path: Path) -> None:
    rows = "".join(f"{age};x\n" for age in [30] * 20 + [50] * 20 + [70, 71])
    (tmp_path / "rows.csv").write_text(f"age;town\n{rows}", encoding="utf-8")
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {"age": known, "town": known},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal"},
    }
    stages = []
    found = tried_changes(tmp_path / "rows.csv", plan, "de", lambda stage, _done, _all: stages.append(stage))
    assert {*stages} == {"remedies"} and found
    for one in found:
        assert anonymize(tmp_path / "rows.csv", {**one["plan"], "version": 1}).report.satisfied
        assert one["plan"]["columns"]["town"] == known or one["plan"]["method"]["name"] == "optimal"
