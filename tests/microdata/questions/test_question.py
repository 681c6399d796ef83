"""Questions in plans: formulas are read without running anything, and every fault is found at once."""

import pytest
from tests.refusals import codes_of

from sfumato.errors import PlanError
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.microdata.questions.formula import parse_formula
from sfumato.microdata.questions.question import Question, questions_of

PLAN = {
    "version": 1,
    "columns": {
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "intervals", "widths": [5, 10]}},
        "deny": {"role": "sensitive"},
        "house price": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}

USES = [
    ("deny ~ age", {"deny": ("outcome",), "age": ("predictor",)}),
    ("I((deny == 'yes') * 1) ~ C(age) * b", {"deny": ("outcome",), "age": ("predictor",), "b": ("predictor",)}),
    ("deny ~ age:b + 0", {"deny": ("outcome",), "age": ("predictor",), "b": ("predictor",)}),
    ('log(y) ~ Q("a ~ b") + `c + d`', {"y": ("outcome",), "a ~ b": ("predictor",), "c + d": ("predictor",)}),
    ("deny ~ Petal.Length", {"deny": ("outcome",), "Petal.Length": ("predictor",)}),
    ("Größe ~ Geschlecht", {"Größe": ("outcome",), "Geschlecht": ("predictor",)}),
    ("Surv(time, dead) ~ age", {"time": ("outcome",), "dead": ("outcome",), "age": ("predictor",)}),
    ("mean of readk by stark, gender", {"readk": ("outcome",), "stark": ("group",), "gender": ("group",)}),
    ('mean of (cause == "shot by") by cut(yr, [1900, 1920])', {"cause": ("outcome",), "yr": ("group",)}),
    ("count by region, year", {"region": ("group",), "year": ("group",)}),
    ('y ~ C(x, Treatment("None"))', {"y": ("outcome",), "x": ("predictor",)}),
]


@pytest.mark.parametrize("formula, columns", USES)
def test_a_formula_says_which_column_it_needs_for_what(formula, columns) -> None:
    assert Question(formula).columns() == columns


def test_further_keys_add_their_columns() -> None:
    question = Question(
        "docvis ~ age", "poisson", filter="age > 20 and year in [1, 2]", weights="w", offset="log(days)", groups="id"
    )
    assert question.columns() == {
        "docvis": ("outcome",),
        "age": ("predictor", "filter"),
        "year": ("filter",),
        "w": ("weight",),
        "days": ("offset",),
        "id": ("cluster",),
    }


REFUSED = [
    ("deny", "question_form"),
    ("deny ~", "question_form"),
    ("a ~ b ~ c", "question_form"),
    ("~ b", "question_form"),
    ("deny ~ year(age)", "question_function"),
    ("deny ~ __import__('os').system('x')", "question_function"),
    ("deny ~ I(().__class__)", "question_part"),
    ("deny ~ [x for x in y]", "question_part"),
    ("deny ~ age ^ 2", "question_part"),
    ("deny ~ C(x, y)", "question_part"),
    ("Surv(time) ~ age", "question_surv"),
    ("mean of x", "question_form"),
    ("y ~ " + "*".join("abcdefghij"), "question_terms"),
    ("deny ~ " + "+".join(["a"] * 9000), "question_form"),
]


@pytest.mark.parametrize("formula, code", REFUSED)
def test_what_cannot_be_computed_is_refused(formula, code) -> None:
    with pytest.raises(PlanError) as error:
        Question(formula)
    assert f"value.{code}" in {*codes_of(error.value.issues[0].message)}


@pytest.mark.parametrize(
    "keys, code",
    [
        ({"formula": "mean of x by y", "family": "poisson"}, "question_table_key"),
        ({"formula": "x ~ y", "family": "cox"}, "question_cox"),
        ({"formula": "Surv(t, e) ~ y", "weights": "w"}, "question_cox_key"),
        ({"formula": "x ~ y", "family": "poisson", "within": "id"}, "question_within"),
    ],
)
def test_settings_that_contradict_the_formula_are_refused(keys, code) -> None:
    with pytest.raises(PlanError) as error:
        Question(**keys)
    assert f"value.{code}" in {*codes_of(error.value.issues[0].message)}


def test_a_plan_keeps_its_questions_when_written() -> None:
    questions = ["deny ~ age", {"formula": "mean of deny by age", "weights": "house price"}]
    plan = read_plan(PLAN | {"purpose": {"questions": questions}})
    assert plan_dict(plan)["purpose"] == {"questions": questions}
    assert read_plan(plan_dict(plan)).purpose == plan.purpose
    assert "purpose" not in plan_dict(read_plan(PLAN))


def test_all_faults_of_all_questions_are_listed_with_the_nearest_column() -> None:
    questions = ["deny ~ agee", "deny ~ year(age) + month(age)", "mean of dny by age"]
    with pytest.raises(PlanError) as error:
        read_plan(PLAN | {"purpose": {"questions": questions}})
    found = {(issue.path, code) for issue in error.value.issues for code in codes_of(issue.message)}
    assert ("purpose.questions[1]", "value.question_function") in found
    assert len([issue for issue in error.value.issues if issue.path.startswith("purpose")]) == 1
    with pytest.raises(PlanError) as error:
        read_plan(PLAN | {"purpose": {"questions": [questions[0], questions[2]]}})
    assert [issue.path for issue in error.value.issues] == ["purpose.questions[0]", "purpose.questions[1]"]
    assert [issue.hint.values["name"] for issue in error.value.issues] == ["age", "deny"]


def test_columns_left_to_the_data_are_checked_when_these_are_known() -> None:
    from sfumato.microdata.plan.resolve import resolve

    plan = read_plan(PLAN | {"other": "insensitive", "purpose": {"questions": ["deny ~ region"]}})
    assert resolve(plan, [*PLAN["columns"], "region"]).purpose.questions[0].columns()["region"] == ("predictor",)
    with pytest.raises(PlanError):
        resolve(plan, [*PLAN["columns"], "regions"])


def test_python_takes_texts_mappings_and_questions() -> None:
    question = Question("deny ~ age")
    assert questions_of(["deny ~ age", {"formula": "deny ~ age"}, question]) == (question,) * 3
    assert read_plan(PLAN).asking("deny ~ age").purpose.questions == (question,)


def test_terms_keep_interactions() -> None:
    assert parse_formula("y ~ a*b:c - 1").terms == "((part_0 * (part_1:part_2)) - 1)"
