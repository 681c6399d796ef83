"""Classes that are bettered stay large enough, hold every row, and lose no more."""

import numpy as np
import polars as pl
import pytest

from sfumato import datasets
from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.methods.local_recoding.annealing import bettered
from sfumato.microdata.methods.local_recoding.candidates import Candidate
from sfumato.microdata.methods.local_recoding.search import guided
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Sweep, with_company
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table


def sweep_of(k: int, rows: int = 1500) -> Sweep:
    plan = read_plan(datasets.census(rows).plan("rows.csv", k) | {"method": {"name": "local"}})
    table = frequency_table(plan, open_engine(pl.DataFrame(datasets.census(rows).columns()), plan))
    return Sweep(problem_of(plan, plan.method, table), plan.method.nodes, 0)


@pytest.mark.parametrize("k", [2, 5, 25])
def test_never_worse_and_large_enough(k: int) -> None:
    sweep = sweep_of(k)
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    swept = with_company(sweep, sweep.spread(nobody, np.array([np.inf])), 0)
    assert swept is not None and (swept >= 0).all()
    better = bettered(sweep, swept, np.zeros(len(swept)), np.zeros(1, np.int64))
    sizes = np.bincount(better, weights=sweep.table.counts)
    assert (better >= 0).all() and sizes.min() >= k
    assert Candidate(sweep, better).loss <= Candidate(sweep, swept).loss + 1e-12


def test_prices_make_the_same_classes_again() -> None:
    one, other = guided(sweep_of(5)), guided(sweep_of(5))
    assert one is not None and (one == other).all()
    assert np.bincount(one, weights=sweep_of(5).table.counts).min() >= 5
