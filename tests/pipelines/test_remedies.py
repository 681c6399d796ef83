"""Advice that was tried: whatever is listed runs, keeps the models and loses less, on any rows."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from refusals import refused
from sfumato.errors import PlanError, UnattainableError
from sfumato.localization.messages import words_in
from sfumato.pipelines import remedies as module
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.remedies import LEAST_GAIN, advise
from sfumato.report.release import findings

ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
AGE = {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "intervals", "widths": [5, 20]}}
OUTLIERS = pl.DataFrame({"age": [30] * 20 + [50] * 20 + [70, 71], "town": ["x"] * 42})


def plan_of(columns: dict, name: str, *models: dict, **method: object) -> dict:
    return {
        "version": 1,
        "seed": 4,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}, *models],
        "method": {"name": name, **method},
        "output": {"order": "keep"},
    }


def drawn(seed: int) -> tuple[pl.DataFrame, dict]:
    """Rows and a plan drawn from a seed; the levels of a column may be limited."""
    random = np.random.default_rng(seed)
    number = int(random.integers(40, 120))
    frame = pl.DataFrame(
        {
            "age": random.integers(20, 20 + int(random.integers(3, 60)), number),
            "town": random.choice(list("xyzuvw"), number, p=np.array([8, 4, 2, 1, 1, 1]) / 17),
            "ill": random.choice(["flu", "gout", "cold", "hiv"], number),
        }
    )
    limited = AGE | ({"min_level": 1} if seed % 3 == 0 else {})
    models = [{"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}] if seed % 2 else []
    columns = {"age": limited, "town": ANY, "ill": {"role": "sensitive"}}
    return frame, plan_of(columns, ("optimal", "mondrian", "local")[seed % 3 if seed % 3 else 0], *models)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_listed_runs_and_loses_less(seed: int) -> None:
    frame, plan = drawn(seed)
    try:
        before = anonymize(frame, plan).report
    except UnattainableError:
        before = None
    advice = advise(frame, plan)
    assert advice.fails == (before is None)
    for remedy in advice.remedies:
        report = anonymize(frame, remedy.plan).report
        losses = [report.column_losses.get(name, 1.0) for name in ("age", "town")]
        assert report.satisfied and remedy.change
        assert remedy.after.loss == pytest.approx(sum(losses) / 2)
        assert {model.name for model in remedy.plan.privacy} >= {"k-anonymity"}
        if before is not None:
            assert remedy.before is not None and remedy.after.loss <= remedy.before.loss - LEAST_GAIN
            assert [one.model for one in report.models] == [one.model for one in before.models]


def test_more_suppressed_rows_keep_a_column() -> None:
    advice = advise(OUTLIERS, plan_of({"age": ANY, "town": ANY}, "optimal"))
    assert advice.remedies[0].after.loss < 0.1 < (advice.remedies[0].before or advice.remedies[0].after).loss
    assert any("method.suppression: 0 -> 0.05" in remedy.change for remedy in advice.remedies)


def test_what_makes_it_worse_or_fails_is_never_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that fail or lose more, whoever proposes them."""
    plan = plan_of({"age": AGE, "town": ANY}, "optimal", suppression=0.1)

    def bad(text: dict, _kept: list, _fails: bool) -> list[dict]:
        columns = text["columns"]
        return [
            {**text, "method": {"name": "nonsense"}},
            {**text, "columns": {**columns, "age": {**columns["age"], "min_level": 9}}},
            {**text, "columns": {**columns, "age": {"role": "identifier"}}},
            {**text, "method": {"name": "optimal", "suppression": 0}},
        ]

    monkeypatch.setattr(module, "_changes", bad)
    monkeypatch.setattr(module._Trials, "may_help", lambda *_: True)
    assert advise(OUTLIERS, plan).remedies == ()


def test_a_plan_that_fails_gets_changes_that_run() -> None:
    frame = pl.DataFrame({"age": [30, 31] * 10, "ill": ["flu"] * 20})
    model = {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}
    plan = plan_of({"age": ANY, "ill": {"role": "sensitive"}}, "optimal", model)
    with pytest.raises(UnattainableError):
        anonymize(frame, plan)
    advice = advise(frame, plan)
    assert advice.fails and advice.remedies
    assert all(remedy.before is None for remedy in advice.remedies)
    (cost,) = advice.costs
    assert (cost.model, cost.column, cost.before) == ("l-diversity", "ill", None) and cost.without is not None


def test_the_cost_of_each_model_is_told_in_both_languages() -> None:
    random = np.random.default_rng(2)
    ill = ["hiv" if place % 40 == 0 else "no" for place in range(200)]
    frame = pl.DataFrame({"age": random.integers(20, 60, 200), "ill": ill, "pay": ["a", "b"] * 100})
    models = [{"model": "l-diversity", "variant": "distinct", "l": 2, "column": name} for name in ("ill", "pay")]
    columns = {"age": AGE, "ill": {"role": "sensitive"}, "pay": {"role": "sensitive"}}
    advice = advise(frame, plan_of(columns, "optimal", *models, suppression=0.02))
    first, second = advice.costs
    assert (first.column, second.column) == ("ill", "pay")
    assert first.before is not None and first.without is not None and first.without < first.before
    for language in ("en", "de"):
        told = findings.advice_sentences(words_in(language), advice.to_dict())
        assert any("ill" in line and f"{100 * (first.before - first.without):.0f}"[:1] in line for line in told)


def test_the_change_of_a_number_is_taken() -> None:
    advice = advise(OUTLIERS, plan_of({"age": ANY, "town": ANY}, "optimal"))
    assert advice.chosen(1) == advice.remedies[0]
    with pytest.raises(PlanError, check=refused("error.plan.remedies.no_such", number="99")):
        advice.chosen(99)


def test_a_release_tries_nothing_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(module, "advise")
    report = anonymize(OUTLIERS, plan_of({"age": ANY, "town": ANY}, "optimal")).report
    assert "advice" not in report.details and "heavily_generalized_columns" in report.details
    assert sf.Advice is module.Advice


def test_answers_to_questions_are_compared() -> None:
    random = np.random.default_rng(6)
    age = random.integers(20, 60, 240)
    frame = pl.DataFrame(
        {"age": age, "town": random.choice(["x", "y"], 240), "pay": 100 + age + random.integers(0, 9, 240)}
    )
    columns = {"age": AGE, "town": ANY, "pay": {"role": "insensitive"}}
    plan = plan_of(columns, "optimal") | {"purpose": {"questions": ["mean of pay by town"]}, "on_inference": "warn"}
    advice = advise(frame, plan)
    assert all(remedy.after.same_answers is not None for remedy in advice.remedies)
    before = module.Outcome(0.5, 0, 0.2, 1)
    better = [module.Outcome(0.3, 0, 0.2, 0), module.Outcome(0.5, 0, 0.2, 2), module.Outcome(0.3, 0, 0.2, 1)]
    read = sf.read_plan(plan_of({"age": AGE}, "optimal"))
    assert [module._is_better(after, before, read) for after in better] == [False, True, True]


def test_nothing_is_chosen_by_the_rows_of_a_differentially_private_plan() -> None:
    models = [{"model": "differential-privacy", "epsilon": 1.0, "delta": 1e-4}]
    known = {"age": ANY}
    plan = plan_of(known, "safepub") | {"privacy": models, "output": {"order": "shuffle"}}
    with pytest.raises(PlanError, check=refused("error.plan.remedies.differential")):
        advise(OUTLIERS.select("age"), plan)
