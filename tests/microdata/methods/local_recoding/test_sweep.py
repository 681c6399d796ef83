"""The sweep: what is known of nodes from earlier rounds changes no answer."""

import itertools

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.methods.local_recoding import sweep as sweeps
from sfumato.microdata.methods.local_recoding.candidates import Candidate
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Sweep
from sfumato.microdata.methods.search import search_table
from sfumato.microdata.models import persons
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table


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
        sweep._round(forgetful, sweep.nodes[0], sweep.floors(), limit, np.zeros(1, np.int64))
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


def visits_sweep() -> Sweep:
    """A sweep over visits of persons, with three promises about private columns."""
    random = np.random.default_rng(3)
    ages = {"type": "intervals", "start": 0, "end": 31, "widths": [2, 4, 8, 16]}
    age = {"role": "quasi-identifier", "type": "integer", "hierarchy": ages}
    columns = {"who": {"role": "person"}, "a": age, "b": age, "c": age}
    private = {name: {"role": "sensitive"} for name in "xyz"}
    privacy = [{"model": "k-anonymity", "k": 3}, *({"model": "l-diversity", "l": 2, "column": name} for name in "xyz")]
    read = {"version": 1, "columns": columns | private, "privacy": privacy, "method": {"name": "local"}}
    frame = pl.DataFrame(
        {"who": random.integers(0, 150, 300)}
        | {name: random.integers(0, 32, 300) for name in "abc"}
        | {name: random.integers(0, 4, 300) for name in "xyz"}
    )
    plan = read_plan(read)
    plan, table = search_table(plan, frequency_table(plan, open_engine(frame, plan)))
    return Sweep(problem_of(plan, plan.method, table), 10**6, 0)


def test_a_promise_counts_persons_of_its_own_column_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """All columns for every promise are the square of the work; k persons are asked for first, of all classes."""
    sweep, counted = visits_sweep(), []
    weights = persons._weights
    monkeypatch.setattr(persons, "_weights", lambda *args: counted.append(args) or weights(*args))
    owners = sweep.problem.grouper.owners((4, 4, 3)).astype(np.int64)
    failing = sweep.violating(owners, int(owners.max()) + 1)
    assert len(counted) <= 3 + 3  # The raw table as one class is counted once, too.
    together = sweep.classes(owners, int(owners.max()) + 1)
    each = [model.violating(together, sweep.table.whole) for model in sweep.problem.models]
    assert failing.tolist() == np.any(each, axis=0).tolist()


def test_a_few_nodes_give_a_fair_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = visits_sweep()
    monkeypatch.setattr(sweeps, "QUICK_WORK", 0)
    few, every = sweep.passes()
    assert (few, every) == (32, len(sweep.nodes[0]))
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    losses = [Candidate(sweep, sweep.spread(nobody, np.array([np.inf]), 0, most)).loss for most in (few, every)]
    assert losses[1] <= losses[0] <= 1.5 * losses[1]
