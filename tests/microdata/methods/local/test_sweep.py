"""The sweep: what is known of nodes from earlier rounds changes no answer."""

import numpy as np
import pytest
from tests.microdata.methods.local.test_bound import frame_of
from tests.microdata.methods.local.test_search import plan_of, table_of

from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.local.sweep import UNPLACED, Sweep
from sfumato.microdata.plan.read import read_plan


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 4])
def test_rounds_forget_nothing(seed: int, k: int) -> None:
    plan = read_plan(plan_of(k=k))
    sweep = Sweep(problem_of(plan, plan.method, table_of(frame_of(seed, 80), plan)), 10**6, 0)
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    limits = np.append(np.linspace(0.0, 2.0, 15), np.inf)
    forgetful = nobody.copy()
    for limit in limits.tolist():
        sweep._round(forgetful, sweep.floors(), limit, 0, np.zeros(1, np.int64))
    assert sweep.spread(nobody, limits).tolist() == forgetful.tolist()
