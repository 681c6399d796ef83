"""The sweep: what is known of nodes from earlier rounds changes no answer."""

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.local.sweep import UNPLACED, Sweep
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.stages.counting import frequency_table


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 4])
def test_rounds_forget_nothing(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    ages = {"type": "intervals", "start": 0, "end": 15, "widths": [2, 4, 8]}
    age = {"role": "quasi-identifier", "type": "integer", "hierarchy": ages}
    promise = {"model": "k-anonymity", "k": k}
    plan = read_plan({"version": 1, "columns": {"a": age, "b": age}, "privacy": [promise], "method": {"name": "local"}})
    frame = pl.DataFrame({"a": random.integers(0, 16, 80), "b": random.integers(0, 16, 80)})
    table = frequency_table(plan, open_engine(frame, plan))
    sweep = Sweep(problem_of(plan, plan.method, table), 10**6, 0)
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    limits = np.append(np.linspace(0.0, 2.0, 15), np.inf)
    forgetful = nobody.copy()
    for limit in limits.tolist():
        sweep._round(forgetful, sweep.floors(), limit, 0, np.zeros(1, np.int64))
    assert sweep.spread(nobody, limits).tolist() == forgetful.tolist()
