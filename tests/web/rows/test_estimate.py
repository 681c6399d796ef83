"""Estimates of what a goal costs: made once for a plan, and ahead of who asks."""

import random
from contextlib import closing
from copy import deepcopy

import pytest

from sfumato.pipelines.release import anonymize
from sfumato.service.jobs.pool import Pool
from sfumato.service.settings import JobSettings
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import Workspace
from sfumato.web.rows import estimate as module
from sfumato.web.rows.estimate import Estimates


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


def test_another_goal_or_ladder_is_estimated_anew(workspace, searches) -> None:
    estimates = Estimates(workspace)
    stricter, coarser = deepcopy(workspace.plan), deepcopy(workspace.plan)
    stricter["privacy"][0]["k"] = 60
    coarser["columns"]["age"]["hierarchy"] = {"type": "any"}
    for plan in (workspace.plan, stricter, coarser):
        estimates.prepare(plan)
    assert len(searches) == 6  # each by the quickest method and by its own
    assert estimates.known(stricter).detail < estimates.known(workspace.plan).detail


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
