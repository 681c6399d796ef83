"""The bound of local recoding: by hand for every row, below every recoding that is found, and told in the report."""

import contextlib
from itertools import product

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.errors import UnattainableError
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.local import bound as module
from sfumato.microdata.methods.local.bound import bound_of
from sfumato.microdata.methods.local.sweep import Sweep
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.stages.counting import frequency_table

TREE = {"type": "tree", "parents": {"a": "vowel", "e": "vowel", "i": "vowel", "b": "consonant", "c": "consonant"}}
AGES = {"type": "intervals", "start": 0, "end": 15, "widths": [2, 4, 8]}
COLUMNS = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
    "letter": {"role": "quasi-identifier", "hierarchy": TREE},
    "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
}


def plan_of(columns=COLUMNS, k=2, **options):
    promise = {"model": "k-anonymity", "k": k}
    return {"version": 1, "columns": columns, "privacy": [promise], "method": {"name": "local", **options}}


def table_of(frame, plan):
    return frequency_table(plan, open_engine(frame, plan))


def frame_of(seed: int, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    letters = list("aeibc")
    return pl.DataFrame(
        {
            "age": random.integers(0, 16, rows),
            "letter": [letters[place] for place in random.integers(0, 5, rows)],
            "town": [["x", "y", None][place] for place in random.integers(0, 3, rows)],
        }
    )


def by_hand(plan, table) -> float:
    """The same, node by node and row by row."""
    sweep = Sweep(problem_of(plan, plan.method, table), 10**6, 0)
    problem, prices = sweep.problem, sweep.prices
    best = np.full(len(table.counts), np.inf)
    if problem.limit:
        best = sum(sweep.shares[c] * sweep.suppressed(c)[table.codes[:, c]] for c in range(len(table.columns)))
    spans = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    for node in product(*spans):
        cells: dict[tuple[int, ...], int] = {}
        keys = [
            tuple(
                int(ladder.codes[level][code]) for ladder, level, code in zip(table.ladders, node, codes, strict=True)
            )
            for codes in table.codes.tolist()
        ]
        for key, count in zip(keys, table.counts.tolist(), strict=True):
            cells[key] = cells.get(key, 0) + count
        for row, key in enumerate(keys):
            if cells[key] >= problem.k:
                cost = sum(prices.costs[c, level, table.codes[row, c]] for c, level in enumerate(node))
                best[row] = min(best[row], cost)
    return float((best * table.counts).sum() / table.rows)


@pytest.mark.parametrize("aggregate", ["sum", "mean"])
@pytest.mark.parametrize(
    ("seed", "k", "suppression"), [(0, 2, 0.0), (1, 3, 0.0), (2, 5, 0.2), (3, 9, 0.0), (4, 4, 1.0)]
)
@pytest.mark.parametrize("loss", ["loss-metric", "precision", "non-uniform-entropy"])
def test_every_row_by_hand(aggregate: str, seed: int, k: int, suppression: float, loss: str) -> None:
    plan = read_plan(plan_of(k=k, loss=loss, aggregate=aggregate, suppression=suppression))
    table = table_of(frame_of(seed, 40), plan)
    bound = bound_of(plan, plan.method, table, Deadline(60.0))
    assert bound == pytest.approx(by_hand(plan, table), abs=1e-9)
    with contextlib.suppress(UnattainableError):
        assert bound <= search(plan, table).loss + 1e-9


def test_levels_are_limited() -> None:
    columns = COLUMNS | {"age": COLUMNS["age"] | {"min_level": 1}, "letter": COLUMNS["letter"] | {"max_level": 1}}
    plan = read_plan(plan_of(columns, k=2, suppression=0.3))
    table = table_of(frame_of(7, 60), plan)
    assert bound_of(plan, plan.method, table, Deadline(60.0)) == pytest.approx(by_hand(plan, table), abs=1e-9)


def test_what_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(frame_of(1, 40), read_plan(plan_of()))
    for options in ({"loss": "discernibility"}, {"aggregate": "geometric"}):
        plan = read_plan(plan_of(**options))
        assert bound_of(plan, plan.method, table, Deadline(60.0)) is None
    plan = read_plan(plan_of())
    assert bound_of(plan, plan.method, table, Deadline(0.0)) is None
    monkeypatch.setattr(module, "MOST_WORK", 10)
    assert bound_of(plan, plan.method, table, Deadline(60.0)) is None


def test_the_report_tells_it() -> None:
    release = anonymize(frame_of(5, 60), plan_of(k=3) | {"seed": 1})
    details, loss = release.report.details, release.report.loss.value
    assert 0 <= details["bound"] <= loss
    assert details["gap"] == pytest.approx(1 - details["bound"] / loss)
    assert "no other of its kind" in release.reports()["report.html"]


def test_alike_rows_are_proved() -> None:
    release = anonymize(pl.DataFrame({"age": [3] * 9, "letter": ["a"] * 9, "town": ["x"] * 9}), plan_of(k=3))
    assert release.report.proved_optimal
    assert release.report.details["gap"] == 0.0
