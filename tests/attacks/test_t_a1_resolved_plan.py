"""What a plan leaves open is filled in before it is checked: nothing that counts, publishes or judges sees the rest."""

import ast
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.policy_check import check

SOURCES = Path(sf.__file__).parent
NOISY = {"model": "differential-privacy", "epsilon": 2, "delta": 0.001, "search": 0}
AGE = {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10, 50]}}
SEX = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def frame(rows: int = 2000) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(row * 7 % 100) for row in range(rows)],
            "name": [f"person {row}" for row in range(rows)],
            "illness": ["flu" if row % 3 else "cold" for row in range(rows)],
        }
    )


def noisy(**changes: Any) -> dict[str, Any]:
    plan = {
        "version": 1,
        "columns": {"age": AGE},
        "privacy": [NOISY],
        "method": {"name": "safepub", "levels": {"age": 2}},
    }
    return plan | changes


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_columns_left_to_other_are_checked_before_they_are_published(role: str) -> None:
    with pytest.raises(PlanError) as error:
        sf.anonymize(frame(), noisy(other=role))
    assert [fault.path for fault in error.value.issues] == ["columns.name", "columns.illness"]


def test_columns_left_to_other_that_are_withheld_are_published_as_stars() -> None:
    release = sf.anonymize(frame(), noisy(other="identifier"))
    assert set(release.data["name"]) == set(release.data["illness"]) == {"*"}


def test_a_file_is_not_judged_by_a_plan_that_contradicts_itself_once_it_is_resolved() -> None:
    with pytest.raises(PlanError, match="insensitive"):
        sf.verify(frame(), noisy(other="insensitive"))


@pytest.mark.parametrize("run", [sf.verify, sf.compare], ids=["verify", "compare"])
def test_what_a_policy_has_not_chosen_is_not_judged(run: Any) -> None:
    open_plan = {"version": 1, "policy": "hipaa-safe-harbor", "columns": {"age": AGE}, "other": "insensitive"}
    with pytest.raises(PlanError, match="no privacy model is requested"):
        run(frame(60), open_plan)


def test_columns_left_to_other_count_in_the_clauses_of_a_policy() -> None:
    """A sensitive column that only `other` names is looked at by the clauses on sensitive values."""
    plan = {"version": 1, "columns": {"age": AGE}, "privacy": [{"model": "k-anonymity", "k": 2}], "other": "sensitive"}
    rows = pl.DataFrame({"age": ["20-29"] * 40, "illness": ["flu"] * 40})
    named = check(rows, "gdpr-wp216", plan=plan | {"columns": {"age": AGE, "illness": {"role": "sensitive"}}})
    assert check(rows, "gdpr-wp216", plan=plan).to_dict() == named.to_dict()


def test_a_resolved_plan_leaves_nothing_open_and_keeps_its_kind() -> None:
    columns = frame(1).columns
    plan = resolve(read_plan(noisy(other="identifier")), columns)
    assert set(plan.columns) == set(columns)
    assert plan.other is None
    assert plan.secret


def test_the_plan_of_a_release_can_be_gone_on_from() -> None:
    plan = sf.Plan(sf.KAnonymity(5), other="identifier").quasi(age=sf.intervals(10, 50, start=0, end=99))
    release = sf.anonymize(frame(), plan)
    again = sf.anonymize(frame(), release.plan.require(sf.KAnonymity(50)))
    assert again.report.classes.smallest >= 50
    assert "illness" in release.plan.to_yaml()


def test_the_method_is_not_replaced_behind_the_back_of_a_plan() -> None:
    means = sf.PublishPlan(microaggregate=5)
    plan = sf.Plan(sf.KAnonymity(5), other="identifier", method=sf.Local()).column(
        "age", "quasi-identifier", type="integer", publish=means
    )
    with pytest.raises(PlanError, match="is the method"):
        sf.anonymize(frame(), plan)


def test_only_one_module_makes_resolved_plans() -> None:
    """mypy proves that nothing else is handed down; here, that nobody else makes one."""
    makers = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if _makes(path)}
    assert makers == {"microdata/plan/resolve.py"}


def _makes(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if "microdata.plan.model import" not in text or "Plan(" not in text:
        return False
    tree = ast.parse(text)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "sfumato.microdata.plan.model"
        for alias in node.names
        if alias.name == "Plan"
    }
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ast.walk(tree)
    )
