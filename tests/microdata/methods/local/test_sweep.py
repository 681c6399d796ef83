"""The sweep: what is known of nodes from earlier rounds changes no answer."""

import itertools

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.local import sweep as sweeps
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


def sweep_of_levels(columns: dict[str, tuple[int, int]], nodes: int) -> Sweep:
    """A sweep over columns that may be published from one level to another."""
    digits = {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 4}}
    entries = {name: digits | {"min_level": low, "max_level": high} for name, (low, high) in columns.items()}
    privacy = [{"model": "k-anonymity", "k": 2}]
    plan = read_plan({"version": 1, "columns": entries, "privacy": privacy, "method": {"name": "local"}})
    frame = pl.DataFrame({name: ["1234", "1235", "1240", "2000"] for name in columns})
    return Sweep(problem_of(plan, plan.method, frequency_table(plan, open_engine(frame, plan))), nodes, 0)


def test_all_nodes_are_listed_and_of_many_some_from_the_first_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = {"a": (1, 3), "b": (0, 4), "c": (2, 2)}
    every = sorted(itertools.product(*(range(low, high + 1) for low, high in spans.values())))
    listed = sorted(map(tuple, sweep_of_levels(spans, 10**6).nodes[0].tolist()))
    assert listed == every
    monkeypatch.setattr(sweeps, "MOST_LISTED", 14)
    monkeypatch.setattr(sweeps, "SAMPLE", 6)
    some = sorted(map(tuple, sweep_of_levels(spans, 10**6).nodes[0].tolist()))
    assert len(some) == 6 and {*some} < {*every} and (some[0], some[-1]) == (every[0], every[-1])


def test_a_lattice_of_millions_of_nodes_is_not_written_down() -> None:
    nodes, costs = sweep_of_levels({f"c{place}": (0, 4) for place in range(12)}, 50).nodes
    assert nodes.shape == (200, 12) and (np.diff(costs) >= -1e-9).all()
