"""The bound of local recoding: by hand for every row, below every recoding that is found, and told in the report."""

import contextlib
from functools import cache
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.errors import UnattainableError
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.methods.local_recoding import candidates as cells
from sfumato.microdata.methods.local_recoding import search as module
from sfumato.microdata.methods.local_recoding.candidates import CellWalk
from sfumato.microdata.methods.local_recoding.search import bound_of
from sfumato.microdata.methods.local_recoding.sweep import Sweep
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages.counting import frequency_table

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


def sweep_of(plan, table) -> Sweep:
    return Sweep(problem_of(plan, plan.method, table), 10**6, 0)


def cells_of(sweep: Sweep):
    """Every cell of every node that has k rows, with what a row loses in it."""
    table, problem = sweep.table, sweep.problem
    spans = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    for node in product(*spans):
        cells: dict[tuple[int, ...], list[int]] = {}
        for row, codes in enumerate(table.codes.tolist()):
            parts = zip(table.ladders, node, codes, strict=True)
            cells.setdefault(tuple(int(ladder.codes[level][code]) for ladder, level, code in parts), []).append(row)
        for rows in cells.values():
            if table.counts[rows].sum() >= problem.k:
                levels = enumerate(node)
                yield rows, sum(sweep.prices.costs[c, level, table.codes[rows[0], c]] for c, level in levels)


def suppressed(sweep: Sweep):
    table = sweep.table
    return sum(sweep.shares[c] * sweep.suppressed(c)[table.codes[:, c]] for c in range(len(table.columns)))


def by_hand(plan, table) -> float:
    """What each row loses at the cheapest node at which it has company, node by node and row by row."""
    sweep = sweep_of(plan, table)
    best = suppressed(sweep) if sweep.problem.limit else np.full(len(table.counts), np.inf)
    for rows, cost in cells_of(sweep):
        best[rows] = np.minimum(best[rows], cost)
    return float((best * table.counts).sum() / table.rows)


def partitions(rows: list[int]):
    """All ways to divide rows into classes."""
    if not rows:
        yield []
        return
    for rest in partitions(rows[1:]):
        yield [[rows[0]], *rest]
        for at, part in enumerate(rest):
            yield [*rest[:at], [rows[0], *part], *rest[at + 1 :]]


def least_loss(plan, table) -> float:
    """The least loss of all local recodings, found by trying every one."""
    sweep = sweep_of(plan, table)
    alone, cells = suppressed(sweep), list(cells_of(sweep))

    @cache
    def lost(members: tuple[int, ...]) -> float:
        part = list(members)
        size = int(table.counts[part].sum())
        costs = [size * cost for rows, cost in cells if set(part) <= set(rows) and size >= sweep.problem.k]
        if sweep.problem.limit >= table.rows:
            costs.append(float((alone * table.counts)[part].sum()))
        return min(costs, default=np.inf)

    every = partitions(list(range(len(table.counts))))
    return min(sum(lost(tuple(part)) for part in parts) for parts in every) / table.rows


@pytest.mark.parametrize("aggregate", ["sum", "mean"])
@pytest.mark.parametrize(
    ("seed", "k", "suppression"), [(0, 2, 0.0), (1, 3, 0.0), (2, 5, 0.2), (3, 9, 0.0), (4, 4, 1.0)]
)
@pytest.mark.parametrize("loss", ["loss-metric", "precision", "non-uniform-entropy"])
def test_every_row_by_hand(aggregate: str, seed: int, k: int, suppression: float, loss: str, monkeypatch) -> None:
    plan = read_plan(plan_of(k=k, loss=loss, aggregate=aggregate, suppression=suppression))
    table = table_of(frame_of(seed, 40), plan)
    bound = bound_of(plan, plan.method, table, Deadline(60.0))
    assert bound >= by_hand(plan, table) - 1e-9
    with contextlib.suppress(UnattainableError):
        assert bound <= search(plan, table).loss + 1e-9
    monkeypatch.setattr(module, "TIMES", 0)
    assert bound_of(plan, plan.method, table, Deadline(60.0)) == pytest.approx(by_hand(plan, table), abs=1e-9)


@pytest.mark.parametrize(("seed", "k", "suppression"), [(0, 2, 0.0), (1, 3, 0.0), (2, 5, 0.2), (3, 9, 0.0), (4, 4, 1)])
def test_no_cell_holds_more_than_its_rows_lose(seed: int, k: int, suppression: float) -> None:
    plan = read_plan(plan_of(k=k, suppression=suppression))
    table = table_of(frame_of(seed, 60), plan)
    walk = CellWalk(sweep_of(plan, table))
    stop = np.zeros(1, np.int64)
    prices = np.random.default_rng(seed).random(len(table.counts)) + 0.01
    for start in (walk.cheapest(stop), prices):
        raised = walk.dual(start, stop)
        assert (raised <= suppressed(walk.sweep) + 1e-9).all() or not walk.sweep.problem.limit
        for rows, cost in cells_of(walk.sweep):
            dearest = np.sort(np.repeat(raised[rows], table.counts[rows]))[-k:]
            assert dearest.sum() <= k * cost + 1e-9


@pytest.mark.parametrize(("seed", "k", "limit"), [(0, 2, 1.2), (1, 3, 2.0), (2, 5, 3.0), (3, 9, 4.0), (4, 4, 0.5)])
def test_the_cells_found_are_those_below_the_limit(seed: int, k: int, limit: float, monkeypatch) -> None:
    monkeypatch.setattr(cells, "DEAREST", 1000)
    monkeypatch.setattr(cells, "FOR_SMALL", 0.0)
    plan = read_plan(plan_of(k=k))
    table = table_of(frame_of(seed, 60), plan)
    walk = CellWalk(sweep_of(plan, table))
    prices = np.random.default_rng(seed).random(len(table.counts)) * 0.6
    found = walk.found(prices, np.zeros(1, np.int64), limit)
    parts = [found.members[start:end] for start, end in pairwise(found.starts)]
    least: dict[tuple[int, ...], float] = {}
    for rows, cost in cells_of(walk.sweep):
        ratio = k * cost / np.sort(np.repeat(prices[rows], table.counts[rows]))[-k:].sum()
        least[tuple(np.sort(rows))] = min(ratio, least.get(tuple(np.sort(rows)), np.inf))
    below = {rows: ratio for rows, ratio in least.items() if ratio <= limit}
    ratios = {tuple(np.sort(rows)): ratio for rows, ratio in zip(parts, found.ratios, strict=True)}
    assert below and set(ratios) == set(below)
    assert all(ratios[rows] >= below[rows] - 1e-9 for rows in below)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("k", "suppression"), [(2, 0.0), (3, 0.0), (3, 1.0)])
def test_below_the_least_loss_of_all(seed: int, k: int, suppression: float) -> None:
    plan = read_plan(plan_of(k=k, suppression=suppression))
    table = table_of(frame_of(seed, 8), plan)
    bound, least = bound_of(plan, plan.method, table, Deadline(60.0)), least_loss(plan, table)
    assert by_hand(plan, table) - 1e-9 <= bound <= least + 1e-9
    assert least <= search(plan, table).loss + 1e-9


def test_levels_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = COLUMNS | {"age": COLUMNS["age"] | {"min_level": 1}, "letter": COLUMNS["letter"] | {"max_level": 1}}
    plan = read_plan(plan_of(columns, k=2, suppression=0.3))
    table = table_of(frame_of(7, 60), plan)
    monkeypatch.setattr(module, "TIMES", 0)
    assert bound_of(plan, plan.method, table, Deadline(60.0)) == pytest.approx(by_hand(plan, table), abs=1e-9)


def test_what_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(frame_of(1, 40), read_plan(plan_of()))
    for options in ({"loss": "discernibility"}, {"aggregate": "geometric"}):
        plan = read_plan(plan_of(**options))
        assert bound_of(plan, plan.method, table, Deadline(60.0)) is None
    plan = read_plan(plan_of())
    assert bound_of(plan, plan.method, table, Deadline(0.0)) is None
    monkeypatch.setattr(cells, "MOST_WORK", 10)
    assert bound_of(plan, plan.method, table, Deadline(60.0)) is None


def test_the_report_tells_it() -> None:
    release = anonymize(frame_of(5, 60), plan_of(k=3) | {"seed": 1})
    details, loss = release.report.details, release.report.loss.value
    assert 0 <= details["bound"] <= loss
    assert details["gap"] == pytest.approx(1 - details["bound"] / loss)
    assert "any other local recoding is at most" in release.reports()["report.html"]


def test_alike_rows_are_proved() -> None:
    release = anonymize(pl.DataFrame({"age": [3] * 9, "letter": ["a"] * 9, "town": ["x"] * 9}), plan_of(k=3))
    assert release.report.proved_optimal
    assert release.report.details["gap"] == 0.0
