"""Questions of analysts: proposed plans name them, releases are asked them."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from tests.refusals import coded

import sfumato as sf
from sfumato.datasets import four_rows
from sfumato.errors import EngineError, PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.plan.read import released_plan
from sfumato.pipelines.release_stages import question_answers
from sfumato.pipelines.suggest import suggest
from sfumato.report.release.sentences import analysis


def test_a_proposed_plan_names_the_questions() -> None:
    plan = suggest(four_rows().to_polars(), questions=["count by illness"])
    assert [question.formula for question in plan.purpose.questions] == ["count by illness"]


def test_questions_of_unknown_columns_are_refused_before_anything_is_searched() -> None:
    with pytest.raises(PlanError) as error:
        suggest(four_rows().to_polars(), questions=["count by ilness", "count by agee"])
    assert [issue.path for issue in error.value.issues] == ["questions[0]", "questions[1]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder of a release with questions."""
    random = np.random.default_rng(1)
    rows = 400
    age, sex = random.integers(20, 80, rows), random.choice(["f", "m"], rows)
    calls = random.poisson(np.exp(0.02 * age))
    frame = polars.DataFrame({"name": [f"n{row}" for row in range(rows)], "age": age, "sex": sex, "calls": calls})
    plan = sf.Plan(sf.KAnonymity(5)).identifiers("name").quasi("sex", age=sf.intervals(5, 10, 20)).insensitive("calls")
    asked = [{"formula": "calls ~ age + sex", "family": "poisson"}, "mean of calls by sex", "mean of calls by name"]
    path = tmp_path_factory.mktemp("questions") / "release"
    sf.anonymize(frame, plan.asking(*asked)).save(path)
    return path


def test_the_internal_report_shows_both_answers(folder) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert [one["verdict"] for one in report["questions"]] == ["same", "same", "impossible"]
    assert report["questions"][0]["raw"]["estimates"]["age"]["estimate"] == pytest.approx(0.02, abs=0.01)
    assert [(one["code"], one["values"]["impossible"]) for one in report["warnings"]] == [("questions", 1)]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<h3><code>calls ~ age + sex</code>") == 1
    assert words_in("en").rendered("warning.questions", report["warnings"][0]["values"]) in page


def test_the_report_for_publication_depends_on_the_plan_alone(folder) -> None:
    outside = json.loads((folder / "report-external.json").read_text(encoding="utf-8"))
    assert outside["analysis"] == analysis(words_in("en"), released_plan(folder))
    assert not {"questions", "warnings"} & outside.keys()
    assert "calls ~" not in (folder / "report-external.html").read_text(encoding="utf-8")


def test_a_release_without_questions_is_as_before() -> None:
    plan = sf.Plan(sf.KAnonymity(2), other="insensitive").quasi("sex").identifiers("name")
    report = sf.anonymize(four_rows().to_polars(), plan).report
    assert not {"questions", "warnings"} & report.details.keys()


def test_regressions_need_an_extra(monkeypatch) -> None:
    monkeypatch.setattr("sfumato.pipelines.release_stages.question_answers.LIBRARIES", ("no_such_library",))
    plan = sf.Plan(sf.KAnonymity(2), other="insensitive").quasi("sex").identifiers("name")
    with pytest.raises(EngineError, check=coded("engine.extra")):
        sf.anonymize(four_rows().to_polars(), plan.asking("illness ~ sex"))
    sf.anonymize(four_rows().to_polars(), plan.asking("count by sex"))


def answers_by_age(rows: int = 500) -> polars.DataFrame:
    random = np.random.default_rng(3)
    age = random.choice(["18-29", "30-44", "45-60", ">60"], rows)
    apart = np.where(random.random(rows) < np.where(age == "18-29", 0.1, 0.3), "daily", "never")
    region, person = random.choice([f"r{place}" for place in range(9)], rows), random.integers(0, 160, rows)
    return polars.DataFrame({"pid": person, "age": age, "region": region, "apart": apart})


AUTO = sf.Plan(sf.KAnonymity(3), sf.LDiversity(l=2, column="apart"), method=sf.Auto(suppression=0.02))
AUTO = AUTO.quasi("age", "region").sensitive("apart")
ASKED = ("apart ~ age", 'mean of (apart == "daily") by region')


def test_auto_keeps_the_method_with_the_best_answers_and_of_equal_ones_the_least_loss(monkeypatch, tmp_path) -> None:
    plan, path = AUTO.identifiers("pid").asking(*ASKED), tmp_path / "rows.csv"
    answers_by_age().write_csv(path)
    first = sf.anonymize(path, plan).report
    losses = {entry["method"]: entry["loss"] for entry in first.details["methods_tried"]}
    assert first.details["questions"] == sf.anonymize(answers_by_age(), plan).report.details["questions"]

    def worst_of_first(own, *_):
        return (0, 0, 0) if own.method.name != first.method else (1, 0, 0)

    monkeypatch.setattr(question_answers, "answer_rank", lambda answers: answers)
    monkeypatch.setattr(question_answers, "answers_of", worst_of_first)
    other = sf.anonymize(answers_by_age(), plan).report
    del losses[first.method]
    assert losses[other.method] == min(loss for loss in losses.values() if loss is not None)


def test_a_comparison_ranks_methods_by_answers_first() -> None:
    compared = sf.compare(answers_by_age(), AUTO.identifiers("pid").asking(*ASKED), methods=("local", "optimal"))
    assert all(cell.same_answers + cell.different_answers <= len(ASKED) for cell in compared.cells)
    best = compared.best(3, compared.suppression[0])
    assert best.same_answers == max(cell.same_answers for cell in compared.cells)
    plain = sf.compare(answers_by_age(), AUTO.identifiers("pid"), methods=("local",))
    assert plain.cells[0].same_answers is None


def test_auto_counts_persons_without_looking_for_bias() -> None:
    report = sf.anonymize(answers_by_age(), AUTO.persons("pid")).report
    assert not any(entry.get("suppression_depends_on") for entry in report.details["methods_tried"])
