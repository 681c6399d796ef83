"""The step of the goal: what it says is at risk, in rows or in persons as the promises count."""

from types import SimpleNamespace

import pytest

from sfumato.localization.messages import words_in
from sfumato.service.jobs.pool import Pool
from sfumato.service.settings import JobSettings
from sfumato.web.microdata.goal_step import GoalStep
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import Workspace

QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


@pytest.fixture
def goal(tmp_path):
    """The step for ten visits of four persons, three of whom came to the same ward."""
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    workspace = Workspace(pool)
    target = workspace.waiting_place("visits.csv")
    rows = [("ann", "a")] * 5 + [("bob", "b"), ("cem", "b"), ("dan", "b"), ("dan", "b"), ("dan", "b")]
    target.write_text("who,ward\n" + "".join(f"{who},{ward}\n" for who, ward in rows))
    workspace.take(load(target, {}), {
        "version": 1,
        "columns": {"who": {"role": "person"}, "ward": QI},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0},
    })  # fmt: skip
    yield GoalStep(SimpleNamespace(workspace=workspace))
    workspace.close()
    pool.close()


@pytest.mark.parametrize(("k", "rows"), [(3, "5 of 10 rows (50.0 %)"), (4, "10 of 10 rows (100 %)")])
def test_groups_are_of_persons_where_a_column_names_them(goal, complete, k: int, rows: str) -> None:
    goal.workspace.plan["privacy"][0]["k"] = k
    told = complete(goal._at_risk(goal.workspace.plan))
    assert told == f"Currently {rows} are in an equivalence class of fewer than {k} persons."
    assert goal.words["k-anonymity.k"] == "Minimum class size in persons (k)"


def test_groups_are_of_rows_where_none_does(goal, complete) -> None:
    goal.workspace.plan["columns"]["who"] = {"role": "identifier"}
    told = complete(goal._at_risk(goal.workspace.plan))
    assert told == "Currently 0 of 10 rows (0 %) are in an equivalence class smaller than 3."
    assert goal.words["k-anonymity.k"] == "Minimum class size in rows (k)"


@pytest.mark.parametrize("key", ["at_risk", "model.k-anonymity.says", "k-anonymity.k", "tip.k"])
def test_german_speaks_of_persons_too(key: str) -> None:
    assert "Person" in words_in("de")[f"{key}.of_persons"]
