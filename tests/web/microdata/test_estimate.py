"""Estimates of what a goal costs: made once for a plan, and ahead of who asks."""

import random
import threading
import time
from contextlib import closing
from copy import deepcopy

import pytest

from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.service.jobs.pool import Pool
from sfumato.service.settings import JobSettings
from sfumato.web.microdata import estimate as module
from sfumato.web.microdata.estimate import Estimates
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    made = Workspace(pool)
    target = made.waiting_place("people.csv")
    rows = "".join(f"{20 + place % 40},{'mf'[place % 2]},{'ab'[place % 2]}\n" for place in range(120))
    target.write_text("age,sex,illness\n" + rows)
    loaded = load(target, {})
    made.take(loaded, loaded.suggested)
    yield made
    made.close()
    pool.close()


@pytest.fixture
def searches(monkeypatch):
    """The goals that were searched."""
    asked, search = [], module.search
    monkeypatch.setattr(module, "search", lambda plan, table: asked.append(plan) or search(plan, table))
    return asked


def test_a_plan_is_estimated_once(workspace, searches) -> None:
    estimates = Estimates(workspace)
    assert estimates.known(workspace.plan) is None
    estimates.prepare(workspace.plan)
    prepared = estimates.known(workspace.plan)
    assert prepared is not None
    assert Estimates(workspace).of(deepcopy(workspace.plan)) is prepared
    assert [plan.method.name for plan in searches] == ["greedy", "auto"]


def test_the_estimate_is_about_what_the_run_keeps(workspace) -> None:
    """It was that of the quickest method: 60 % of the detail, of which the run kept 80 %."""
    draw = random.Random(1)
    target = workspace.waiting_place("towns.csv")
    rows = [
        f"{draw.randint(20, 79)},{draw.randint(80000, 80099)},{draw.choice('mf')},{draw.choice('abc')}"
        for _ in range(400)
    ]
    target.write_text("age,zip,sex,illness\n" + "\n".join(rows) + "\n")
    loaded = load(target, {})
    workspace.take(loaded, loaded.suggested)
    assert workspace.plan["method"]["name"] == "auto"
    estimate = Estimates(workspace).of(workspace.plan)
    with closing(anonymize(None, deepcopy(workspace.plan) | {"data": {"source": str(target)}})) as release:
        assert estimate.detail == pytest.approx(1 - release.report.mean_loss, abs=0.03)


def test_a_moment_that_is_too_short_leaves_the_quickest_method(workspace, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOMENT_SECONDS", 1e-9)
    assert Estimates(workspace).of(workspace.plan).detail > 0


def test_codes_of_a_column_are_missing_in_what_is_counted(workspace) -> None:
    coded = deepcopy(workspace.plan)
    coded["columns"]["sex"] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": ["m"]}
    table = Estimates(workspace).count(coded)
    assert {*table.ladders[table.columns.index("sex")].values} == {"f", None}


def test_another_goal_or_ladder_is_estimated_anew(workspace, searches) -> None:
    estimates = Estimates(workspace)
    stricter, coarser = deepcopy(workspace.plan), deepcopy(workspace.plan)
    stricter["privacy"][0]["k"] = 60
    coarser["columns"]["age"]["hierarchy"] = {"type": "any"}
    for plan in (workspace.plan, stricter, coarser):
        estimates.prepare(plan)
    assert len(searches) == 6  # each by the quickest method and by its own
    assert estimates.known(stricter).detail < estimates.known(workspace.plan).detail


def promising(plan, least):
    """A plan with two promises: about the sizes of groups, and about the illnesses in each."""
    plan = deepcopy(plan)
    plan["columns"]["illness"] = {"role": "sensitive"}
    diverse = {"model": "l-diversity", "l": least, "column": "illness", "variant": "distinct"}
    return plan | {"privacy": [{"model": "k-anonymity", "k": 5}, diverse]}


@pytest.fixture
def counts(monkeypatch):
    """The plans whose rows were counted, which takes a moment."""
    asked, count = [], module.frequency_table

    def counted(plan, engine):
        asked.append(plan)
        time.sleep(0.05)
        return count(plan, engine)

    monkeypatch.setattr(module, "frequency_table", counted)
    return asked


def test_a_goal_that_promises_fewer_columns_is_judged_on_the_same_count(workspace, counts) -> None:
    """Each purpose that was chosen counted a million rows again."""
    estimates = Estimates(workspace)
    both = promising(workspace.plan, 2)
    sizes = both | {"privacy": both["privacy"][:1]}
    for plan in (both, sizes, both | {"privacy": [*reversed(both["privacy"])]}):
        estimates.of(plan)
    assert len(counts) == 1
    other = workspace.counted[2]
    workspace.counted = None
    assert estimates.count(both).sensitive.keys() == other.sensitive.keys()
    assert estimates.count(sizes).sensitive.keys() == set()


def test_a_promise_about_a_column_that_was_not_counted_is_counted(workspace, counts) -> None:
    estimates = Estimates(workspace)
    both = promising(workspace.plan, 2)
    sizes = both | {"privacy": both["privacy"][:1]}
    assert [estimates.count(plan).sensitive.keys() for plan in (sizes, both)] == [set(), {"illness"}]
    assert len(counts) == 2


def test_who_asks_while_rows_are_counted_waits_for_that_count(workspace, counts) -> None:
    """The goal was opened while its estimate was made ahead, and the rows were counted twice at the same time."""
    ahead = threading.Thread(target=Estimates(workspace).prepare, args=(workspace.plan,))
    ahead.start()
    Estimates(workspace).count(workspace.plan)
    ahead.join()
    assert len(counts) == 1


@pytest.mark.parametrize("least", [2, 3])
def test_a_long_table_is_searched_by_sizes_and_keeps_every_promise(workspace, searches, monkeypatch, least) -> None:
    """Three values of two cannot be: then nothing is left, as the search by all promises says."""
    monkeypatch.setattr(module, "FEW_COMBINATIONS", 0)
    plan = promising(workspace.plan, least)
    estimate = Estimates(workspace).of(plan)
    resolved = read_plan(plan | {"method": {"name": "greedy", "suppression": plan["method"]["suppression"]}})
    if least == 3:
        assert estimate.detail == 0
        assert len(searches) == 3  # by sizes, at the levels found, and by all promises
        return
    whole = module.search(resolved, Estimates(workspace).count(plan))
    assert estimate.detail == pytest.approx(1 - sum(whole.per_column.values()) / len(whole.per_column))


def test_a_plan_that_cannot_be_run_is_told_to_who_asks_alone(workspace) -> None:
    workspace.plan["privacy"][0]["k"] = -3
    Estimates(workspace).prepare(workspace.plan)
    assert Estimates(workspace).known(workspace.plan) is None
    with pytest.raises(module.SfumatoError):
        Estimates(workspace).of(workspace.plan)


def test_other_data_are_not_told_what_the_first_cost(workspace) -> None:
    Estimates(workspace).prepare(workspace.plan)
    target = workspace.waiting_place("people.csv")
    target.write_text("age,sex,illness\n" + "30,m,a\n40,f,b\n" * 30)
    workspace.take(load(target, {}), deepcopy(workspace.plan))
    assert Estimates(workspace).known(workspace.plan) is None
